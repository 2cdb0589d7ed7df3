-- The journal added up by the day in which its entries were written, so that a statement is few rows, also of months that
-- are archived (money §9.5). The rows are kept for ever.

-- fillfactor 80: the rows of today change each time, and pages with room keep those updates in place (HOT).
CREATE TABLE money.journal_days (
  project  text NOT NULL,
  day      date NOT NULL, -- of UTC
  -- opening: everything up to the newest entry that was archived before there were days
  kind     text NOT NULL CHECK (kind IN ('opening', 'fund', 'correct', 'reserve', 'settle', 'release')),
  product  text NOT NULL, -- of settlements; else empty
  entries  bigint NOT NULL CHECK (entries > 0),
  reserved bigint NOT NULL, -- this and what follows: sums of the entries
  settled  bigint NOT NULL,
  outside  bigint NOT NULL,
  PRIMARY KEY (project, day, kind, product)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);
GRANT INSERT, UPDATE ON money.journal_days TO svc_ledger;

-- Fundings and corrections of a time, and the newest of them.
CREATE INDEX ON money.fundings (project, at);
CREATE INDEX ON money.corrections (project, at);

-- What is rolled up already. The function that adds to hours and days of usage alone goes first, and comes back adding to
-- these as well; until then nobody rolls up, and what is settled meanwhile is rolled up afterwards.
DROP FUNCTION IF EXISTS money.roll_up_usage_v1(text[], integer);
LOCK TABLE money.usage_positions IN SHARE MODE;
INSERT INTO money.journal_days (project, day, kind, product, entries, reserved, settled, outside)
SELECT project, (at AT TIME ZONE 'UTC')::date, 'opening', '', seq, reserved, settled, -funded
  FROM money.archived_wallets WHERE seq > 0;
INSERT INTO money.journal_days (project, day, kind, product, entries, reserved, settled, outside)
SELECT j.project, (j.at AT TIME ZONE 'UTC')::date, j.kind, coalesce(v.product, ''),
       count(*), sum(j.reserved), sum(j.settled), sum(j.outside)
  FROM money.journal j
  JOIN money.usage_positions p ON p.project = j.project AND j.seq <= p.seq
  LEFT JOIN money.archived_wallets a ON a.project = j.project
  LEFT JOIN money.attempts v ON j.kind = 'settle' AND v.id = j.reference
 WHERE j.seq > coalesce(a.seq, 0)
 GROUP BY 1, 2, 3, 4;
