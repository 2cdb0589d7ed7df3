-- What was used by the day, beside the hours, so that a long time is few rows (money §9.2).

CREATE TABLE money.usage_days (
  project           text NOT NULL,
  day               timestamptz(3) NOT NULL CHECK (day = date_trunc('day', day, 'UTC')), -- of the admission
  product           text NOT NULL,
  key               text NOT NULL, -- empty: a person ran a sandbox product in the console
  calls             bigint NOT NULL CHECK (calls > 0),
  prompt_tokens     bigint NOT NULL CHECK (prompt_tokens >= 0),
  completion_tokens bigint NOT NULL CHECK (completion_tokens >= 0),
  micro             bigint NOT NULL CHECK (micro >= 0),
  PRIMARY KEY (project, day, product, key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);
GRANT INSERT, UPDATE ON money.usage_days TO svc_ledger;

-- What is there already. The function that adds to the hours alone goes first, and comes back adding to both; until then
-- nobody rolls up, and what is settled meanwhile is rolled up afterwards.
DROP FUNCTION IF EXISTS money.roll_up_usage_v1(text[], integer);
LOCK TABLE money.usage_positions IN SHARE MODE;
INSERT INTO money.usage_days (project, day, product, key, calls, prompt_tokens, completion_tokens, micro)
SELECT project, date_trunc('day', hour, 'UTC'), product, key, sum(calls), sum(prompt_tokens), sum(completion_tokens), sum(micro)
  FROM money.usage_hours GROUP BY 1, 2, 3, 4;
