-- What was used, by the hour, added up from the journal (money §9.2). The rows are kept for ever.

-- fillfactor 80: the rows of this hour change each time, and pages with room keep those updates in place (HOT).
CREATE TABLE money.usage_hours (
  project           text NOT NULL,
  hour              timestamptz(3) NOT NULL CHECK (hour = date_trunc('hour', hour, 'UTC')), -- of the admission
  product           text NOT NULL,
  key               text NOT NULL, -- empty: a person ran a sandbox product in the console
  calls             bigint NOT NULL CHECK (calls > 0),
  prompt_tokens     bigint NOT NULL CHECK (prompt_tokens >= 0),
  completion_tokens bigint NOT NULL CHECK (completion_tokens >= 0),
  micro             bigint NOT NULL CHECK (micro >= 0),
  PRIMARY KEY (project, hour, product, key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);

-- Up to which journal entry a project's usage is in usage_hours.
CREATE TABLE money.usage_positions (
  project text PRIMARY KEY,
  seq     bigint NOT NULL,
  at      timestamptz(3) NOT NULL, -- of the newest entry so far
  micro   bigint NOT NULL -- settled by the entries up to seq
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

GRANT INSERT, UPDATE ON money.usage_hours, money.usage_positions TO svc_ledger;
