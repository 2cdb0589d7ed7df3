-- Usage by the flow whose execution made a call, beside model and key (money §9.2).

-- What is rolled up already, as far as the executions are there. The function goes first, and comes back telling flows apart; until then nobody rolls up, and
-- what is settled meanwhile is rolled up afterwards.
DROP FUNCTION IF EXISTS money.roll_up_usage_v1(text[], integer);
LOCK TABLE money.usage_positions IN SHARE MODE;
CREATE TEMPORARY TABLE flow_hours ON COMMIT DROP AS
SELECT j.project, date_trunc('hour', v.admitted_at, 'UTC') AS hour, v.product, v.key, e.sandbox,
       count(*) AS calls, sum(coalesce(v.prompt_tokens, 0)) AS prompt, sum(coalesce(v.completion_tokens, 0)) AS completion,
       sum(j.settled) AS micro
  FROM money.journal j
  JOIN money.usage_positions p ON p.project = j.project AND j.seq <= p.seq
  LEFT JOIN money.archived_wallets a ON a.project = j.project
  JOIN money.attempts v ON v.id = j.reference
  JOIN money.executions e ON e.id = v.execution
 WHERE j.kind = 'settle' AND j.seq > coalesce(a.seq, 0)
 GROUP BY 1, 2, 3, 4, 5;
CREATE TEMPORARY TABLE flow_days ON COMMIT DROP AS
SELECT project, date_trunc('day', hour, 'UTC') AS day, product, key, sandbox,
       sum(calls) AS calls, sum(prompt) AS prompt, sum(completion) AS completion, sum(micro) AS micro
  FROM flow_hours GROUP BY 1, 2, 3, 4, 5;

ALTER TABLE money.usage_hours
  ADD COLUMN sandbox text NOT NULL DEFAULT '', -- empty: a direct call, or one from before flows were told apart
  DROP CONSTRAINT usage_hours_pkey,
  ADD PRIMARY KEY (project, hour, product, key, sandbox),
  DROP CONSTRAINT usage_hours_calls_check;
ALTER TABLE money.usage_days
  ADD COLUMN sandbox text NOT NULL DEFAULT '',
  DROP CONSTRAINT usage_days_pkey,
  ADD PRIMARY KEY (project, day, product, key, sandbox),
  DROP CONSTRAINT usage_days_calls_check;

UPDATE money.usage_hours u
   SET calls = u.calls - f.calls, prompt_tokens = u.prompt_tokens - f.prompt,
       completion_tokens = u.completion_tokens - f.completion, micro = u.micro - f.micro
  FROM (SELECT project, hour, product, key, sum(calls) AS calls, sum(prompt) AS prompt, sum(completion) AS completion,
               sum(micro) AS micro FROM flow_hours GROUP BY 1, 2, 3, 4) f
 WHERE u.project = f.project AND u.hour = f.hour AND u.product = f.product AND u.key = f.key;
DELETE FROM money.usage_hours WHERE calls = 0;
INSERT INTO money.usage_hours (project, hour, product, key, sandbox, calls, prompt_tokens, completion_tokens, micro)
SELECT project, hour, product, key, sandbox, calls, prompt, completion, micro FROM flow_hours;

UPDATE money.usage_days u
   SET calls = u.calls - f.calls, prompt_tokens = u.prompt_tokens - f.prompt,
       completion_tokens = u.completion_tokens - f.completion, micro = u.micro - f.micro
  FROM (SELECT project, day, product, key, sum(calls) AS calls, sum(prompt) AS prompt, sum(completion) AS completion,
               sum(micro) AS micro FROM flow_days GROUP BY 1, 2, 3, 4) f
 WHERE u.project = f.project AND u.day = f.day AND u.product = f.product AND u.key = f.key;
DELETE FROM money.usage_days WHERE calls = 0;
INSERT INTO money.usage_days (project, day, product, key, sandbox, calls, prompt_tokens, completion_tokens, micro)
SELECT project, day, product, key, sandbox, calls, prompt, completion, micro FROM flow_days;

ALTER TABLE money.usage_hours ADD CONSTRAINT usage_hours_calls_check CHECK (calls > 0);
ALTER TABLE money.usage_days ADD CONSTRAINT usage_days_calls_check CHECK (calls > 0);
