-- What grows with every call is divided by time: records of use, journal and its blocks by the month, executions and
-- their nodes by the week. Ids begin with their time, so a table that is found by id is divided by id, and keeps its
-- primary key; the journal is divided by the moment of its entries. What belongs to no partition that is there goes into
-- the one named `_unplanned`. From here on money.make_partition_v1 makes the partitions.
--
--   - That `(project, seq)` names one entry, and `(project, last_seq)` one block, no index can hold over partitions. It
--     follows from where the number comes from, the wallet's row under its lock; the check of the books sees to it.
--   - That a node is charged once stood in an index of the records of use. It stands in the node's row now, as `charge`.
--   - Nodes refer to their execution without a constraint: both are written by one statement, and dropped together.
--   - Ids by which tables are divided are compared byte by byte, as partitions are ordered.

CREATE FUNCTION pg_temp.id_bound(prefix text, moment timestamptz) RETURNS text LANGUAGE sql AS $$
  SELECT prefix || '_' || string_agg(
           substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> (5 * n)) & 31)::integer + 1, 1), '' ORDER BY n DESC)
    FROM (SELECT floor(extract(epoch FROM moment) * 1000)::bigint AS ms) t, generate_series(0, 9) n
$$;

-- The view of a database that has its functions already: it would follow the table that goes.
CREATE TEMP TABLE replaced_view (definition text);
DO $$
BEGIN
  IF to_regclass('money.execution_callers') IS NOT NULL THEN
    INSERT INTO replaced_view SELECT pg_get_viewdef('money.execution_callers'::regclass);
    DROP VIEW money.execution_callers;
  END IF;
END $$;

CREATE SCHEMA before_partitions;
ALTER TABLE money.attempts SET SCHEMA before_partitions;
ALTER TABLE money.journal SET SCHEMA before_partitions;
ALTER TABLE money.journal_blocks SET SCHEMA before_partitions;
ALTER TABLE money.execution_nodes SET SCHEMA before_partitions;
ALTER TABLE money.executions SET SCHEMA before_partitions;

----------------------------------------------------------------------------------------------------------- tables

CREATE TABLE money.attempts (
  id                text COLLATE "C" PRIMARY KEY,
  invocation        text NOT NULL,
  attempt           integer NOT NULL,
  state             text NOT NULL CHECK (state IN ('Settled', 'Released')),
  project           text,
  key               text,
  lineage           text,
  window_start      timestamptz(3),
  product           text,
  instance          text,
  reserved_micro    bigint NOT NULL DEFAULT 0,
  charged_micro     bigint NOT NULL DEFAULT 0 CHECK (charged_micro BETWEEN 0 AND reserved_micro),
  prompt_pico       bigint NOT NULL DEFAULT 0,
  completion_pico   bigint NOT NULL DEFAULT 0,
  request_pico      bigint NOT NULL DEFAULT 0,
  prompt_tokens     integer,
  completion_tokens integer,
  estimated         boolean NOT NULL DEFAULT false,
  reason            text,
  answer_day        date,
  admitted_at       timestamptz(3),
  closed_at         timestamptz(3) NOT NULL,
  execution         text, -- of a node's call; null: a direct call
  node              text,
  CHECK (state = 'Settled' OR charged_micro = 0),
  CHECK (project IS NOT NULL OR state = 'Released'),
  CHECK ((execution IS NULL) = (node IS NULL))
) PARTITION BY RANGE (id);
CREATE INDEX ON money.attempts (project, admitted_at);
CREATE INDEX ON money.attempts (key, admitted_at);
CREATE INDEX later_attempts ON money.attempts (invocation) WHERE attempt > 1;
CREATE INDEX attempts_of_nodes ON money.attempts (execution) WHERE execution IS NOT NULL;

CREATE TABLE money.journal (
  project   text NOT NULL,
  seq       bigint NOT NULL,
  kind      text NOT NULL CHECK (kind IN ('fund', 'reserve', 'settle', 'release')),
  reference text NOT NULL,
  available bigint NOT NULL,
  reserved  bigint NOT NULL,
  settled   bigint NOT NULL,
  outside   bigint NOT NULL,
  at        timestamptz(3) NOT NULL,
  PRIMARY KEY (project, seq, at),
  CONSTRAINT balanced CHECK (available + reserved + settled + outside = 0)
) PARTITION BY RANGE (at);

CREATE TABLE money.journal_blocks (
  project  text NOT NULL,
  last_seq bigint NOT NULL,
  seal     bytea NOT NULL,
  -- Of its entries. The version before leaves it out, and then it is a little before them.
  at       timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (project, last_seq, at)
) PARTITION BY RANGE (at);

CREATE TABLE money.executions (
  id           text COLLATE "C" PRIMARY KEY,
  project      text NOT NULL,
  sandbox      text NOT NULL,
  revision     integer NOT NULL,
  key          text, -- in whose name: a key, by its lineage, or a person in the console
  lineage      text,
  person       text,
  surface      text NOT NULL CHECK (surface IN ('invoke', 'chat')),
  status       text NOT NULL CHECK (status IN ('Admitted', 'Running', 'Succeeded', 'Failed')),
  version      integer NOT NULL DEFAULT 0, -- of the execution and its nodes together: rises with each change
  seq          integer NOT NULL DEFAULT 0, -- of its newest line of progress
  output       bytea,
  error        bytea, -- set when it begins to fail; it is Failed once none of its nodes is Running
  traceparent  text,
  tracestate   text,
  created_at   timestamptz(3) NOT NULL,
  started_at   timestamptz(3), -- the first claim of a node
  deadline_at  timestamptz(3) NOT NULL, -- of the first claim; then of the execution; then of the nodes that outlast it
  completed_at timestamptz(3),
  CHECK ((key IS NULL) = (lineage IS NULL) AND (key IS NULL) <> (person IS NULL)),
  CHECK ((status IN ('Succeeded', 'Failed')) = (completed_at IS NOT NULL)),
  CHECK (status <> 'Failed' OR error IS NOT NULL),
  CHECK (status <> 'Succeeded' OR output IS NOT NULL)
) PARTITION BY RANGE (id);
CREATE INDEX ON money.executions (deadline_at) WHERE completed_at IS NULL;
CREATE INDEX ON money.executions (project) WHERE completed_at IS NULL;
CREATE INDEX executions_that_fail ON money.executions (id) WHERE completed_at IS NULL AND error IS NOT NULL;
CREATE INDEX ON money.executions (sandbox, created_at);
CREATE INDEX ON money.executions (completed_at) WHERE completed_at IS NOT NULL; -- for the retention

CREATE TABLE money.execution_nodes (
  execution    text COLLATE "C" NOT NULL,
  ordinal      integer NOT NULL, -- in the order of the graph
  node         text NOT NULL,
  kind         text NOT NULL,
  project      text NOT NULL,
  sources      integer[] NOT NULL, -- ordinals of the nodes whose values it takes
  state        text NOT NULL CHECK (state IN ('Pending', 'Ready', 'Running', 'Succeeded', 'Failed', 'Skipped')),
  attempt      integer NOT NULL DEFAULT 1, -- rises whenever a lease ends without a result
  deaths       integer NOT NULL DEFAULT 0, -- leases that ended because their instance did
  seq          integer, -- its line of progress
  ports        text, -- those that have a value: a JSON list
  output       bytea,
  error        bytea,
  instance     text, -- the one that runs it or ran it
  lease        text, -- kept with its result, so that a repeat of `complete` is known
  call         text, -- the invocation of its paid call, the same for each attempt
  reservation  text, -- of this attempt
  charge       text, -- the attempt that it was charged for; set once
  enqueued_at  timestamptz(3), -- when the queue was last asked to run it
  claimed_at   timestamptz(3),
  completed_at timestamptz(3),
  duration_ms  integer,
  remote_ms    integer,
  PRIMARY KEY (execution, ordinal),
  CHECK ((lease IS NULL) = (instance IS NULL)),
  CHECK (state <> 'Running' OR lease IS NOT NULL),
  CHECK (state NOT IN ('Pending', 'Ready', 'Skipped') OR lease IS NULL),
  CHECK ((state IN ('Succeeded', 'Failed')) = (seq IS NOT NULL)),
  CHECK (state <> 'Succeeded' OR output IS NOT NULL AND ports IS NOT NULL),
  CHECK ((state = 'Failed') = (error IS NOT NULL))
) PARTITION BY RANGE (execution);
CREATE INDEX ON money.execution_nodes (instance) WHERE state = 'Running';
CREATE INDEX ON money.execution_nodes (project, execution) WHERE state = 'Ready' AND enqueued_at IS NULL;
CREATE INDEX ON money.execution_nodes (project, enqueued_at)
  WHERE state IN ('Ready', 'Running') AND enqueued_at IS NOT NULL;

------------------------------------------------------------------------------------------------------- partitions

CREATE TABLE money.attempts_unplanned PARTITION OF money.attempts DEFAULT;
CREATE TABLE money.journal_unplanned PARTITION OF money.journal DEFAULT;
CREATE TABLE money.journal_blocks_unplanned PARTITION OF money.journal_blocks DEFAULT;
CREATE TABLE money.executions_unplanned PARTITION OF money.executions DEFAULT
  WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
CREATE TABLE money.execution_nodes_unplanned PARTITION OF money.execution_nodes DEFAULT
  WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- From the first entry, or the first execution, to two months or five weeks from now.
DO $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  starts date;
  ends date;
  part record;
BEGIN
  FOR starts, ends IN
    SELECT m::date, (m + interval '1 month')::date
      FROM generate_series(
             date_trunc('month', least((SELECT min(at) FROM before_partitions.journal) AT TIME ZONE 'UTC', today)),
             date_trunc('month', today + interval '2 months'), interval '1 month') m
  LOOP
    FOR part IN SELECT * FROM (VALUES
      ('attempts', pg_temp.id_bound('inv', starts::timestamp AT TIME ZONE 'UTC'),
                   pg_temp.id_bound('inv', ends::timestamp AT TIME ZONE 'UTC')),
      ('journal', (starts::timestamp AT TIME ZONE 'UTC')::text, (ends::timestamp AT TIME ZONE 'UTC')::text),
      ('journal_blocks', (starts::timestamp AT TIME ZONE 'UTC')::text, (ends::timestamp AT TIME ZONE 'UTC')::text)
    ) p (name, lower, upper) LOOP
      EXECUTE format('CREATE TABLE money.%I PARTITION OF money.%I FOR VALUES FROM (%L) TO (%L)',
                     part.name || '_' || to_char(starts, 'YYYYMMDD'), part.name, part.lower, part.upper);
    END LOOP;
  END LOOP;
  FOR starts IN
    SELECT w::date
      FROM generate_series(
             date_trunc('week', least((SELECT min(created_at) FROM before_partitions.executions) AT TIME ZONE 'UTC', today)),
             date_trunc('week', today + interval '5 weeks'), interval '1 week') w
  LOOP
    FOR part IN SELECT unnest(ARRAY['executions', 'execution_nodes']) AS name LOOP
      EXECUTE format('CREATE TABLE money.%I PARTITION OF money.%I FOR VALUES FROM (%L) TO (%L)
                        WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01)',
                     part.name || '_' || to_char(starts, 'YYYYMMDD'), part.name,
                     pg_temp.id_bound('exe', starts::timestamp AT TIME ZONE 'UTC'),
                     pg_temp.id_bound('exe', (starts + 7)::timestamp AT TIME ZONE 'UTC'));
    END LOOP;
  END LOOP;
END $$;

-------------------------------------------------------------------------------------------------------- what is there

INSERT INTO money.attempts SELECT * FROM before_partitions.attempts;
INSERT INTO money.journal SELECT * FROM before_partitions.journal;
INSERT INTO money.journal_blocks (project, last_seq, seal, at)
SELECT b.project, b.last_seq, b.seal, coalesce(j.at, now())
  FROM before_partitions.journal_blocks b
  LEFT JOIN before_partitions.journal j ON j.project = b.project AND j.seq = b.last_seq;
INSERT INTO money.executions SELECT * FROM before_partitions.executions;
INSERT INTO money.execution_nodes (
  execution, ordinal, node, kind, project, sources, state, attempt, deaths, seq, ports, output, error, instance, lease,
  call, reservation, charge, enqueued_at, claimed_at, completed_at, duration_ms, remote_ms)
SELECT
  n.execution, n.ordinal, n.node, n.kind, n.project, n.sources, n.state, n.attempt, n.deaths, n.seq, n.ports, n.output,
  n.error, n.instance, n.lease, n.call, n.reservation, v.id, n.enqueued_at, n.claimed_at, n.completed_at,
  n.duration_ms, n.remote_ms
  FROM before_partitions.execution_nodes n
  LEFT JOIN before_partitions.attempts v ON v.execution = n.execution AND v.node = n.node AND v.state = 'Settled';
DROP SCHEMA before_partitions CASCADE;

-- Where the check has come to, so that it reads no partition before it.
ALTER TABLE money.checked_wallets ADD COLUMN at timestamptz(3);

------------------------------------------------------------------------------------------------------ permissions

-- A database that has its functions already keeps what is append-only so, from this moment on
-- (prisma/functions/money/refuse_change.sql, which is applied to the others after this file).
DO $$
DECLARE
  divided CONSTANT regclass[] := ARRAY['money.journal', 'money.journal_blocks', 'money.attempts'];
  each regclass;
BEGIN
  IF to_regproc('money.refuse_change') IS NOT NULL THEN
    FOR each IN
      SELECT unnest(divided) UNION ALL SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = ANY (divided)
    LOOP
      EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON %s
                        FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change()', each);
    END LOOP;
  END IF;
END $$;

-- Executions are no longer deleted by row.
GRANT SELECT ON money.attempts, money.journal, money.journal_blocks, money.executions, money.execution_nodes
TO svc_ledger, svc_console;
GRANT INSERT ON money.attempts, money.journal, money.journal_blocks TO svc_ledger;
GRANT INSERT, UPDATE ON money.executions, money.execution_nodes TO svc_ledger;

DO $$
BEGIN
  IF EXISTS (SELECT FROM replaced_view) THEN
    EXECUTE 'CREATE VIEW money.execution_callers AS ' || (SELECT definition FROM replaced_view);
    GRANT SELECT ON money.execution_callers TO svc_ledger;
  END IF;
END $$;
DROP TABLE replaced_view;
