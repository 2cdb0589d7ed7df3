-- What callers were refused, told by the gateways now and then. Some of it may be lost; no money hangs on it.

-- fillfactor 80: the rows of this hour change each time, and pages with room keep those updates in place (HOT).
CREATE TABLE money.refusal_hours (
  project text NOT NULL,
  hour    timestamptz(3) NOT NULL CHECK (hour = date_trunc('hour', hour, 'UTC')),
  key     text NOT NULL,
  code    text NOT NULL,
  count   bigint NOT NULL CHECK (count > 0),
  PRIMARY KEY (project, hour, key, code)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX ON money.refusal_hours (hour);

CREATE TABLE money.latest_refusals (
  project text NOT NULL,
  at      timestamptz(3) NOT NULL,
  request text NOT NULL, -- the X-Request-Id of the answer
  key     text NOT NULL,
  model   text CHECK (char_length(model) <= 128), -- as the caller named it; null: it was not read
  code    text NOT NULL,
  PRIMARY KEY (project, at, request)
);
CREATE INDEX ON money.latest_refusals (at);

-- The newest report of each gateway, so that one that comes again is known.
CREATE TABLE money.refusal_senders (
  sender text PRIMARY KEY,
  report integer NOT NULL,
  at     timestamptz(3) NOT NULL
) WITH (fillfactor = 50);

GRANT INSERT, UPDATE, DELETE ON money.refusal_hours, money.latest_refusals, money.refusal_senders TO svc_ledger;
