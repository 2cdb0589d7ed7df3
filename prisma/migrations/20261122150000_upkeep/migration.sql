-- Indexes for what is asked beside the path of a call, what the check of the books remembers, and who has the turn of a
-- job that one replica does for all. `key_refusal_v1` takes a row of the view money.callers: that view gets no column
-- without a `_v2` of both, because sessions keep plans in which its row type stands.

CREATE INDEX ON money.reservations (project, invocation);
CREATE INDEX ON money.reservations (instance);
CREATE INDEX direct_calls_by_deadline ON money.reservations (deadline_at) WHERE execution IS NULL;
CREATE INDEX ON money.meters (project);
CREATE INDEX ON money.attempts (key, admitted_at);

-- What is written with every batch leaves as many dead versions. Their tables are small, so autovacuum may come often:
-- how often it looks is a setting of the server (docs/operating.md, "Postgres").
ALTER TABLE money.wallets SET (autovacuum_vacuum_cost_delay = 0);
ALTER TABLE money.meters SET (autovacuum_vacuum_cost_delay = 0);
ALTER TABLE money.reservations SET (autovacuum_vacuum_cost_delay = 0);
ALTER TABLE money.instances SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
ALTER TABLE money.key_uses SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE money.idempotency_keys SET (autovacuum_vacuum_scale_factor = 0.02);

-- What did not add up in the journal when it was folded, as JSON: it is looked at again, and forgotten once it is mended.
ALTER TABLE money.checked_wallets ADD COLUMN findings text NOT NULL DEFAULT '[]';
CREATE INDEX ON money.checked_wallets (checked_at);

-- A job that one replica does for all: who has the turn, and until when. `done_at` and `report` are of the last turn
-- that ended, which the other replicas tell of.
CREATE TABLE money.maintenance_turns (
  job     text PRIMARY KEY,
  replica text NOT NULL,
  until   timestamptz(3) NOT NULL,
  done_at timestamptz(3),
  report  text
);
GRANT INSERT, UPDATE ON money.maintenance_turns TO svc_ledger;
