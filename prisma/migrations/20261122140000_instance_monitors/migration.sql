-- Whoever takes the heartbeats of an instance is the one that can say that they stay away (the rules are in
-- prisma/functions/money/monitor_instances_v1.sql).

-- One row for each life of a replica of the ledger.
CREATE TABLE money.instance_monitors (
  id        text PRIMARY KEY,
  looked_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50);
GRANT INSERT, UPDATE, DELETE ON money.instance_monitors TO svc_ledger;

ALTER TABLE money.instances
  ADD COLUMN monitor      text,
  ADD COLUMN watched_from timestamptz(3);

-- Those of one monitor that are alive: a look reads no row of the past.
CREATE INDEX instances_alive ON money.instances (monitor) WHERE ended_at IS NULL;
