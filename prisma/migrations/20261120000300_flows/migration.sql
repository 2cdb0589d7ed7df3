-- Sandbox products, their revisions, and the runs of them (spec 2.3, 2.4, 3.1; decisions.md, 6).
-- What an author wrote and what a node answered is kept as bytes: text from outside may hold what `jsonb` and `text` refuse.

------------------------------------------------------------------------------------------------------- sandboxes

CREATE TABLE control.sandboxes (
  id              text PRIMARY KEY CHECK (id LIKE 'sbx-%'),
  project         text NOT NULL REFERENCES control.projects,
  name            text NOT NULL,
  description     text NOT NULL,
  mcp_enabled     boolean NOT NULL DEFAULT false,
  suspended       boolean NOT NULL DEFAULT false,
  latest_revision integer NOT NULL DEFAULT 0 CHECK (latest_revision >= 0),
  active_revision integer CHECK (active_revision BETWEEN 1 AND latest_revision),
  activated_at    timestamptz(3),
  created_by      text NOT NULL REFERENCES control.people,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  CHECK ((active_revision IS NULL) = (activated_at IS NULL))
);
CREATE INDEX ON control.sandboxes (project);

CREATE TABLE control.revisions (
  sandbox       text NOT NULL REFERENCES control.sandboxes,
  number        integer NOT NULL CHECK (number >= 1),
  draft         boolean NOT NULL,
  base_revision integer,
  graph         bytea NOT NULL,
  problems      bytea NOT NULL,
  digest        text CHECK (digest ~ '^[0-9a-f]{64}$'), -- with its package; null where the graph has problems
  package       bytea,
  manifest      text[] NOT NULL DEFAULT '{}',
  paid_nodes    integer NOT NULL DEFAULT 0 CHECK (paid_nodes BETWEEN 0 AND 8),
  chat_input    text, -- the one text field of either side; null where the contract is not chat-compatible (spec 4.2)
  chat_output   text,
  created_by    text NOT NULL REFERENCES control.people,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (sandbox, number),
  CHECK ((digest IS NULL) = (package IS NULL)),
  CHECK ((chat_input IS NULL) = (chat_output IS NULL))
);
ALTER TABLE control.sandboxes ADD FOREIGN KEY (id, active_revision) REFERENCES control.revisions (sandbox, number);

------------------------------------------------------------------------------------------------------- executions

-- fillfactor 50: status, seq and deadline change while a run goes on, and half-empty pages keep those updates in place (HOT).
CREATE TABLE money.executions (
  id           text PRIMARY KEY,
  project      text NOT NULL,
  sandbox      text NOT NULL,
  revision     integer NOT NULL,
  key          text, -- who runs it: a key, by its lineage, or a person in the console
  lineage      text,
  person       text,
  surface      text NOT NULL CHECK (surface IN ('invoke', 'chat')),
  status       text NOT NULL CHECK (status IN ('Admitted', 'Running', 'Succeeded', 'Failed')),
  version      integer NOT NULL DEFAULT 0, -- of the run and its nodes together: rises with each change that is decided
  seq          integer NOT NULL DEFAULT 0, -- of its newest line of progress
  output       bytea,
  error        bytea, -- set when it begins to fail; it is Failed once no node runs any more
  traceparent  text,
  tracestate   text,
  created_at   timestamptz(3) NOT NULL,
  started_at   timestamptz(3), -- the first claim of a node
  deadline_at  timestamptz(3) NOT NULL, -- of the first claim; then of the run; then of the nodes that still run after that
  completed_at timestamptz(3),
  CHECK ((key IS NULL) = (lineage IS NULL) AND (key IS NULL) <> (person IS NULL)),
  CHECK ((status IN ('Succeeded', 'Failed')) = (completed_at IS NOT NULL)),
  CHECK (status <> 'Failed' OR error IS NOT NULL),
  CHECK (status <> 'Succeeded' OR output IS NOT NULL)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX ON money.executions (deadline_at) WHERE completed_at IS NULL;
CREATE INDEX ON money.executions (project) WHERE completed_at IS NULL;
CREATE INDEX ending ON money.executions (id) WHERE completed_at IS NULL AND error IS NOT NULL;
CREATE INDEX ON money.executions (sandbox, created_at);
CREATE INDEX ON money.executions (completed_at) WHERE completed_at IS NOT NULL; -- for what forgets them

CREATE TABLE money.execution_nodes (
  execution    text NOT NULL REFERENCES money.executions ON DELETE CASCADE,
  ordinal      integer NOT NULL, -- in the order of the graph
  node         text NOT NULL,
  kind         text NOT NULL,
  project      text NOT NULL,
  sources      integer[] NOT NULL, -- ordinals of the nodes that it takes values of
  state        text NOT NULL CHECK (state IN ('Pending', 'Ready', 'Running', 'Succeeded', 'Failed', 'Skipped')),
  attempt      integer NOT NULL DEFAULT 1, -- rises whenever a lease ends without a result
  deaths       integer NOT NULL DEFAULT 0, -- leases that ended because their instance did
  seq          integer, -- its line of progress
  ports        text, -- that have a value: a JSON list
  output       bytea,
  error        bytea,
  instance       text, -- of the process that runs or ran it
  lease        text, -- kept with its result, so that a repeat of `complete` is known
  call         text, -- the invocation of its paid call, the same for each attempt
  reservation  text, -- of this attempt
  enqueued_at      timestamptz(3), -- when the queue was last asked to run it
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
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX ON money.execution_nodes (instance) WHERE state = 'Running';
CREATE INDEX ON money.execution_nodes (project, execution) WHERE state = 'Ready' AND enqueued_at IS NULL;
CREATE INDEX ON money.execution_nodes (project, enqueued_at) WHERE state IN ('Ready', 'Running') AND enqueued_at IS NOT NULL;

----------------------------------------------------------------------------------------------------------- assets

CREATE TABLE money.assets (
  id         text PRIMARY KEY,
  project    text NOT NULL,
  mime_type  text NOT NULL,
  bytes      integer NOT NULL CHECK (bytes > 0),
  execution  text, -- that made it; null: it was uploaded
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON money.assets (project, created_at);

-------------------------------------------------------------------------------------------------- the node batcher

-- What a batch of flow items needs to read, and how what was decided is written (services/ledger/src/flows).
--
--   F1  What is decided is decided from one reading of a run and all its nodes, by one statement, without a lock; or from what a replica
--       remembers of its own last write. It is written only if nothing was decided about that run since: its version is compared under
--       its lock, and rises with each write, by a step that nobody guesses. So two siblings that end at once on two replicas never both
--       decide without the other; the later one is decided again.
--   F2  Locks: the wallets of runs that close a reservation, in id order, and nothing else; then the runs, in id order; then what
--       money.close_v1 locks. What somebody else holds is left out, unless the caller is patient.
--   F3  Results, closings and what may run next are one transaction: money moves exactly when its node ends.
--   F4  Nodes are enqueued last, as many of each project as have room, those of its oldest runs first. Nodes that another transaction
--       is writing are passed over. Two replicas that ring for one project at once may each count without the other, so the room
--       is exact on one replica, and never more than the sum of what each would give.
--   F5  As in run_batch_v1, no plan leans on statistics (B8).
--   F6  A batch that only claims does not wait for the disk. A claim that a crash takes back is a node that is Ready again: whoever had
--       it is fenced, and has called nobody, because the admission of a paid call finds its lease gone, and one that was committed has
--       taken the claim before it to the disk too.

-- Asks the queue to run nodes of these projects as far as there is room. Answers what to enqueue, as a list of
-- `[execution, node, attempt, traceparent, tracestate]`; null: nothing.
CREATE FUNCTION money.enqueue_ready_nodes_v1(projects text[], nodes_at_once integer, moment timestamptz) RETURNS json LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_nestloop = off SET enable_mergejoin = off
AS $$
DECLARE
  jobs json;
BEGIN
  WITH room AS MATERIALIZED (
    SELECT p AS project, nodes_at_once - (
             SELECT count(*) FROM (SELECT FROM money.execution_nodes r
                                    WHERE r.project = p AND r.state IN ('Ready', 'Running') AND r.enqueued_at IS NOT NULL LIMIT nodes_at_once) t) AS free
      FROM unnest(projects) p
  ), next AS MATERIALIZED (
    SELECT n.execution, n.ordinal FROM room CROSS JOIN LATERAL (
      SELECT c.execution, c.ordinal FROM money.execution_nodes c
       WHERE c.project = room.project AND c.state = 'Ready' AND c.enqueued_at IS NULL
       ORDER BY c.project, c.execution LIMIT greatest(room.free, 0) FOR UPDATE SKIP LOCKED) n
  ), rung AS (
    UPDATE money.execution_nodes n SET enqueued_at = moment FROM next
     WHERE n.execution = ANY (ARRAY(SELECT execution FROM next)) AND n.execution = next.execution AND n.ordinal = next.ordinal
    RETURNING n.execution, n.ordinal, n.node, n.attempt
  )
  SELECT json_agg(json_build_array(r.execution, r.node, r.attempt, e.traceparent, e.tracestate) ORDER BY r.execution, r.ordinal) INTO jobs
    FROM rung r LEFT JOIN LATERAL (SELECT x.traceparent, x.tracestate FROM money.executions x WHERE x.id = r.execution LIMIT 1) e ON true;
  RETURN jobs;
END $$;

-- What a maintenance job asks of the queue: nodes of projects with room that nobody rang for, and again those that were enqueued `late_ms` ago and
-- that no worker has taken up. At most `most` of the latter. Answers like money.enqueue_ready_nodes_v1.
CREATE FUNCTION money.requeue_lost_nodes_v1(nodes_at_once integer, late_ms integer, most integer) RETURNS json LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
  projects text[];
  missed json;
  late json;
BEGIN
  WITH RECURSIVE waiting (project) AS ( -- each project once, however many of its nodes wait
    SELECT min(n.project) FROM money.execution_nodes n WHERE n.state = 'Ready' AND n.enqueued_at IS NULL
    UNION ALL
    SELECT (SELECT min(n.project) FROM money.execution_nodes n WHERE n.state = 'Ready' AND n.enqueued_at IS NULL AND n.project > w.project)
      FROM waiting w WHERE w.project IS NOT NULL
  ) SELECT array_agg(project) INTO projects FROM waiting WHERE project IS NOT NULL;
  IF projects IS NOT NULL THEN
    missed := money.enqueue_ready_nodes_v1(projects, nodes_at_once, moment);
  END IF;
  WITH next AS MATERIALIZED (
    SELECT n.execution, n.ordinal FROM money.execution_nodes n
     WHERE n.state = 'Ready' AND n.enqueued_at <= moment - late_ms * interval '1 millisecond'
     LIMIT most FOR UPDATE SKIP LOCKED
  ), rung AS (
    UPDATE money.execution_nodes n SET enqueued_at = moment FROM next
     WHERE n.execution = ANY (ARRAY(SELECT execution FROM next)) AND n.execution = next.execution AND n.ordinal = next.ordinal
    RETURNING n.execution, n.ordinal, n.node, n.attempt
  )
  SELECT json_agg(json_build_array(r.execution, r.node, r.attempt, e.traceparent, e.tracestate) ORDER BY r.execution, r.ordinal) INTO late
    FROM rung r LEFT JOIN LATERAL (SELECT x.traceparent, x.tracestate FROM money.executions x WHERE x.id = r.execution LIMIT 1) e ON true;
  RETURN (coalesce(missed::jsonb, '[]') || coalesce(late::jsonb, '[]'))::json;
END $$;

-- Runs as they are (F1): a list of `[id, project, sandbox, revision, status, seq, version, begins to fail, deadline in Unix
-- milliseconds, nodes]`, a node being `[state, attempt, deaths, lease, instance, call, reservation, ports]` in the order of the graph.
-- Which of `instances` live. And of the nodes that are asked to be claimed what their sources answered: `s_claim` says which of the
-- claims (from 1), `s_ordinal` which source.
CREATE FUNCTION money.read_executions_v1(
  ids text[], instances text[], c_execution text[], c_node text[],
  OUT at_ms bigint, OUT runs text, OUT living text[], OUT s_claim integer[], OUT s_ordinal integer[], OUT s_output bytea[]
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_nestloop = off SET enable_mergejoin = off
AS $$
BEGIN
  SELECT json_agg(json_build_array(e.id, e.project, e.sandbox, e.revision, e.status, e.seq, e.version, e.error IS NOT NULL,
                                   floor(extract(epoch FROM e.deadline_at) * 1000)::bigint, n.nodes))
    INTO runs
    FROM money.executions e
    CROSS JOIN LATERAL (
      SELECT json_agg(json_build_array(n.state, n.attempt, n.deaths, n.lease, n.instance, n.call, n.reservation, n.ports) ORDER BY n.ordinal) AS nodes
        FROM money.execution_nodes n WHERE n.execution = e.id) n
   WHERE e.id = ANY (ids);
  at_ms := floor(extract(epoch FROM clock_timestamp()) * 1000);
  IF cardinality(instances) > 0 THEN
    living := ARRAY(SELECT h.id FROM money.instances h WHERE h.id = ANY (instances) AND h.ended_at IS NULL);
  END IF;
  IF cardinality(c_execution) > 0 THEN
    SELECT array_agg(c.ord::integer), array_agg(s.ordinal), array_agg(s.output) INTO s_claim, s_ordinal, s_output
      FROM unnest(c_execution, c_node) WITH ORDINALITY AS c (execution, node, ord)
      CROSS JOIN LATERAL (SELECT n.sources FROM money.execution_nodes n
                           WHERE n.execution = c.execution AND n.node = c.node AND n.state IN ('Ready', 'Running') LIMIT 1) t
      CROSS JOIN LATERAL (SELECT s.ordinal, s.output FROM money.execution_nodes s
                           WHERE s.execution = c.execution AND s.ordinal = ANY (t.sources) AND s.state = 'Succeeded'
                          OFFSET 0) s; -- stays a probe of the index for each claim (F5)
  END IF;
END $$;

-- Waits for runs, and for the wallets of their projects before: for a caller whose runs have changed under it again and again.
CREATE FUNCTION money.lock_executions_v1(ids text[]) RETURNS void LANGUAGE plpgsql
  SET lock_timeout = '250ms' SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  wanted text[];
BEGIN
  SELECT array_agg(DISTINCT e.project) INTO wanted FROM money.executions e WHERE e.id = ANY (ids); -- a run's project never changes
  PERFORM FROM money.wallets w WHERE w.project = ANY (wanted) ORDER BY w.project FOR UPDATE;
  PERFORM FROM money.executions e WHERE e.id = ANY (ids) ORDER BY e.id FOR UPDATE;
END $$;

-- Writes what was decided of runs: e_ the runs, n_ the nodes that change, c_ the reservations that close; n_execution and c_execution say of
-- which run they are (from 1). Empty bytes are none. Where one of `instances` has ended, nothing is written. Answers which runs were
-- written (the others are to be decided again), which of the closings were made and what came of them, and what to enqueue.
CREATE FUNCTION money.write_executions_v1(
  patient boolean, nodes_at_once integer, instances text[],
  e_id text[], e_project text[], e_version integer[], e_next integer[], e_status text[], e_seq integer[], e_error bytea[], e_output bytea[], e_started boolean[],
  e_deadline_ms integer[], -- from now; null: as it was
  n_execution integer[], n_ordinal integer[], n_state text[], n_attempt integer[], n_deaths integer[], n_seq integer[], n_ports text[],
  n_output bytea[], n_error bytea[], n_instance text[], n_lease text[], n_call text[], n_reservation text[], n_duration_ms integer[], n_remote_ms integer[],
  c_execution integer[], c_id text[], c_kind text[], c_prompt integer[], c_completion integer[], c_estimated boolean[], c_reason text[],
  OUT written integer[], OUT closed integer[], OUT closings text, OUT rung text
) LANGUAGE plpgsql
  SET lock_timeout = '250ms'
  SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_nestloop = off SET enable_mergejoin = off
AS $$
DECLARE
  wanted text[];
  locked text[] := '{}';
  moment timestamptz(3);
  ids text[];
  outcome json;
  moved text[]; -- projects of which a node has ended or is Ready: a claim lets nothing run
BEGIN
  IF cardinality(instances) > 0
     AND (SELECT count(*) FROM money.instances h WHERE h.id = ANY (instances) AND h.ended_at IS NULL) < cardinality(instances) THEN
    RETURN;
  END IF;

  -- F2: the wallets of runs that close a reservation
  IF cardinality(c_id) > 0 THEN
    SELECT array_agg(DISTINCT e_project[r]) INTO wanted FROM unnest(c_execution) r;
    FOR round IN 1 .. 2 LOOP
      IF patient THEN
        SELECT array_agg(w.project) INTO locked FROM (SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE) w;
      ELSE
        SELECT array_agg(w.project) INTO locked FROM
          (SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE SKIP LOCKED) w;
      END IF;
      EXIT WHEN round = 2 OR cardinality(locked) = cardinality(wanted);
      INSERT INTO money.wallets (project) -- of a project that was never funded nor called
      SELECT p FROM unnest(wanted) p WHERE NOT p = ANY (ARRAY(SELECT w.project FROM money.wallets w WHERE w.project = ANY (wanted)))
      ON CONFLICT DO NOTHING;
      EXIT WHEN NOT FOUND;
    END LOOP;
    locked := coalesce(locked, '{}');
  END IF;

  -- F2: then the runs. A locked row is read as it is now, so its version is that of this moment (F1).
  IF patient THEN
    SELECT array_agg(l.id || ' ' || l.version) INTO ids
      FROM (SELECT id, version FROM money.executions WHERE id = ANY (e_id) ORDER BY id FOR UPDATE) l;
  ELSE
    SELECT array_agg(l.id || ' ' || l.version) INTO ids
      FROM (SELECT id, version FROM money.executions WHERE id = ANY (e_id) ORDER BY id FOR UPDATE SKIP LOCKED) l;
  END IF;
  SELECT array_agg(e.ord::integer) INTO written
    FROM unnest(e_id, e_project, e_version) WITH ORDINALITY AS e (id, project, version, ord)
   WHERE e.id || ' ' || e.version = ANY (ids)
     AND (e.project = ANY (locked) OR NOT e.ord = ANY (c_execution));
  IF written IS NULL THEN
    RETURN;
  END IF;
  moment := clock_timestamp();

  -- F3
  IF cardinality(c_id) > 0 THEN
    SELECT array_agg(c.ord::integer ORDER BY c.ord) INTO closed FROM unnest(c_execution) WITH ORDINALITY AS c (run, ord) WHERE c.run = ANY (written);
    IF closed IS NOT NULL THEN
      outcome := money.close_v1(locked, moment, (moment AT TIME ZONE 'UTC')::date,
        ARRAY(SELECT c_id[n] FROM unnest(closed) n), ARRAY(SELECT c_kind[n] FROM unnest(closed) n),
        ARRAY(SELECT c_prompt[n] FROM unnest(closed) n), ARRAY(SELECT c_completion[n] FROM unnest(closed) n),
        ARRAY(SELECT c_estimated[n] FROM unnest(closed) n), array_fill(false, ARRAY[cardinality(closed)]),
        ARRAY(SELECT c_reason[n] FROM unnest(closed) n));
      IF position('"deferred"' IN outcome::text) > 0 THEN
        RAISE serialization_failure USING MESSAGE = 'a reservation of a run could not be closed under the lock of its wallet';
      END IF;
      closings := outcome::text;
    END IF;
  END IF;
  UPDATE money.execution_nodes n SET
         state = c.state, attempt = c.attempt, deaths = c.deaths, seq = c.seq, ports = c.ports, output = nullif(c.output, ''), error = nullif(c.error, ''),
         instance = c.instance, lease = c.lease, call = c.call, reservation = c.reservation, duration_ms = c.duration_ms, remote_ms = c.remote_ms,
         enqueued_at = CASE WHEN c.state NOT IN ('Ready', 'Pending') THEN n.enqueued_at END,
         claimed_at = CASE c.state WHEN 'Running' THEN moment WHEN 'Succeeded' THEN n.claimed_at WHEN 'Failed' THEN n.claimed_at END,
         completed_at = CASE WHEN c.state IN ('Succeeded', 'Failed', 'Skipped') THEN moment END
    FROM (SELECT e_id[u.run] AS execution, u.*
            FROM unnest(n_execution, n_ordinal, n_state, n_attempt, n_deaths, n_seq, n_ports, n_output, n_error, n_instance, n_lease, n_call,
                        n_reservation, n_duration_ms, n_remote_ms)
                 AS u (run, ordinal, state, attempt, deaths, seq, ports, output, error, instance, lease, call, reservation, duration_ms, remote_ms)
           WHERE u.run = ANY (written)) c
   WHERE n.execution = ANY (e_id) AND n.execution = c.execution AND n.ordinal = c.ordinal;
  UPDATE money.executions e SET
         version = c.next, status = c.status, seq = c.seq,
         error = coalesce(nullif(c.error, ''), e.error), output = coalesce(nullif(c.output, ''), e.output),
         started_at = CASE WHEN c.started THEN moment ELSE e.started_at END,
         deadline_at = coalesce(moment + c.deadline_ms * interval '1 millisecond', e.deadline_at),
         completed_at = CASE WHEN c.status IN ('Succeeded', 'Failed') THEN moment END
    FROM unnest(e_id, e_next, e_status, e_seq, e_error, e_output, e_started, e_deadline_ms) WITH ORDINALITY
         AS c (id, next, status, seq, error, output, started, deadline_ms, ord)
   WHERE e.id = ANY (e_id) AND e.id = c.id AND c.ord = ANY (written);

  SELECT array_agg(DISTINCT e_project[n.run]) INTO moved FROM unnest(n_execution, n_state) AS n (run, state) WHERE n.run = ANY (written) AND n.state <> 'Running';
  IF moved IS NOT NULL THEN
    rung := money.enqueue_ready_nodes_v1(moved, nodes_at_once, moment)::text; -- F4
  ELSIF cardinality(n_execution) > 0 AND NOT EXISTS (SELECT FROM unnest(e_error, e_output) AS e (error, output) WHERE e.error <> '' OR e.output <> '') THEN
    PERFORM set_config('synchronous_commit', 'off', true); -- F6
  END IF;
END $$;

------------------------------------------------------------------------------------------------- the start of runs

-- All that decides whether a run may start, an object for each in the order asked. `i_project` of a person, `i_hash` of a key. The
-- views of keys are those of admission; a window and a wallet are read as admission reads them, and nothing is held.
CREATE FUNCTION money.read_starts_v1(
  i_id text[], i_hash text[], i_project text[], i_sandbox text[], i_revision integer[], i_key text[], most_open integer
) RETURNS text LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_nestloop = off SET enable_mergejoin = off
AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
  projects text[];
  open_of bigint[];
  facts text;
BEGIN
  -- Once a project, however many of its runs are asked for.
  SELECT array_agg(p.project), array_agg((
           SELECT count(*) FROM (SELECT FROM money.executions o WHERE o.project = p.project AND o.completed_at IS NULL LIMIT most_open) o))
    INTO projects, open_of
    FROM (SELECT unnest(i_project) AS project
          UNION SELECT k.project FROM control.keys k WHERE k.hash = ANY (ARRAY(SELECT decode(h, 'hex') FROM unnest(i_hash) h))) p
   WHERE p.project IS NOT NULL;
  SELECT json_agg(json_build_object(
           'project', i.at_project,
           'refusal', i.refusal, 'key', i.key_id, 'lineage', i.lineage, 'rotatedTo', i.rotated_to, 'expiredAt', i.expires_at,
           'limit', CASE WHEN i.limit_micro IS NOT NULL THEN json_build_object(
              'micro', i.limit_micro, 'reset', i.limit_reset, 'windowStart', greatest(t.window_start, i.window_start),
              'spent', CASE WHEN t.window_start >= i.window_start THEN t.spent ELSE 0 END,
              'reserved', CASE WHEN t.window_start >= i.window_start THEN t.reserved ELSE 0 END) END,
           'sandbox', CASE WHEN s.id IS NOT NULL THEN json_build_object('suspended', s.suspended, 'active', s.active_revision) END,
           'revision', CASE WHEN r.number IS NOT NULL THEN json_build_object('number', r.number, 'valid', r.digest IS NOT NULL,
              'paidNodes', r.paid_nodes, 'chatInput', r.chat_input, 'chatOutput', r.chat_output) END,
           'unlisted', CASE WHEN i.key_id IS NOT NULL THEN money.unlisted_v1(i.key_id, i.policy, i.sandbox, r.manifest) END,
           'unassigned', (SELECT m FROM unnest(r.manifest) m
                           WHERE NOT EXISTS (SELECT FROM control.assignments a JOIN control.products p ON p.id = a.product AND p.state = 'published'
                                              WHERE a.project = i.at_project AND a.product = m) LIMIT 1),
           'asked', CASE WHEN e.id IS NOT NULL THEN json_build_object('execution', e.id, 'project', e.project, 'sandbox', e.sandbox,
              'revision', e.revision, 'textField', CASE e.surface WHEN 'chat' THEN er.chat_output END) END,
           'earlier', CASE WHEN x.key IS NOT NULL THEN json_build_object('execution', x.invocation, 'fingerprint', encode(x.fingerprint, 'hex'),
              'revision', xe.revision, 'textField', CASE xe.surface WHEN 'chat' THEN xr.chat_output END) END,
           'reserved', coalesce(w.reserved, 0), 'available', coalesce(w.funded - w.settled - w.reserved, 0),
           'open', coalesce(open_of[array_position(projects, i.at_project)], 0)
         ) ORDER BY i.ord)
    INTO facts
    FROM (SELECT a.*, k.id AS key_id, k.lineage, k.policy, k.rotated_to, k.expires_at, k.limit_micro, k.limit_reset,
                 coalesce(a.of_project, k.project) AS at_project,
                 CASE WHEN a.hash IS NOT NULL THEN money.key_refusal_v1(k.row, moment) END AS refusal,
                 money.window_start_v1(k.limit_reset, moment) AS window_start
            FROM unnest(i_id, i_hash, i_project, i_sandbox, i_revision, i_key) WITH ORDINALITY
                 AS a (id, hash, of_project, sandbox, revision, idempotency_key, ord)
            LEFT JOIN LATERAL (SELECT c AS row, c.* FROM money.callers c WHERE c.hash = decode(a.hash, 'hex') LIMIT 1) k ON true
          OFFSET 0) i
    LEFT JOIN LATERAL (SELECT * FROM control.sandboxes s WHERE s.id = i.sandbox AND s.project = i.at_project LIMIT 1) s ON true
    LEFT JOIN LATERAL (SELECT * FROM control.revisions r
                        WHERE r.sandbox = s.id AND r.number = coalesce(i.revision, s.active_revision) LIMIT 1) r ON true
    LEFT JOIN LATERAL (SELECT * FROM money.executions e WHERE e.id = i.id LIMIT 1) e ON true
    LEFT JOIN LATERAL (SELECT q.chat_output FROM control.revisions q WHERE q.sandbox = e.sandbox AND q.number = e.revision LIMIT 1) er ON true
    LEFT JOIN LATERAL (SELECT * FROM money.idempotency_keys x
                        WHERE x.project = i.at_project AND x.scope = i.sandbox AND x.key = i.idempotency_key LIMIT 1) x ON true
    LEFT JOIN LATERAL (SELECT * FROM money.executions e WHERE e.id = x.invocation LIMIT 1) xe ON true
    LEFT JOIN LATERAL (SELECT q.chat_output FROM control.revisions q WHERE q.sandbox = xe.sandbox AND q.number = xe.revision LIMIT 1) xr ON true
    LEFT JOIN LATERAL (SELECT * FROM money.wallets w WHERE w.project = i.at_project LIMIT 1) w ON true
    LEFT JOIN LATERAL (SELECT * FROM money.meters t WHERE t.lineage = i.lineage AND i.limit_micro IS NOT NULL LIMIT 1) t ON true;
  RETURN facts;
END $$;

-- Begins runs: e_ the runs, n_ all their nodes, n_execution says of which run (from 1). A run whose idempotency key or id was taken meanwhile is
-- not begun. Answers which were, and what to enqueue.
CREATE FUNCTION money.write_starts_v1(
  nodes_at_once integer, first_claim_ms integer,
  e_id text[], e_project text[], e_sandbox text[], e_revision integer[], e_key text[], e_lineage text[], e_person text[], e_surface text[],
  e_traceparent text[], e_tracestate text[], e_idempotency_key text[], e_fingerprint text[],
  n_execution integer[], n_ordinal integer[], n_node text[], n_kind text[], n_sources text[], n_state text[], n_seq integer[], n_ports text[], n_output bytea[],
  OUT started integer[], OUT rung text
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_nestloop = off SET enable_mergejoin = off
AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
  fresh text[];
BEGIN
  IF cardinality(array_remove(e_idempotency_key, NULL)) > 0 THEN
    WITH taken AS ( -- in one order everywhere, so that no two batches wait for each other
      INSERT INTO money.idempotency_keys (project, scope, key, fingerprint, invocation, reservation, created_at)
      SELECT project, sandbox, key, decode(fingerprint, 'hex'), id, id, moment
        FROM unnest(e_id, e_project, e_sandbox, e_idempotency_key, e_fingerprint) AS e (id, project, sandbox, key, fingerprint)
       WHERE key IS NOT NULL ORDER BY project, sandbox, key
      ON CONFLICT DO NOTHING RETURNING invocation
    ) SELECT array_agg(invocation) INTO fresh FROM taken;
  END IF;
  WITH begun AS (
    INSERT INTO money.executions (id, project, sandbox, revision, key, lineage, person, surface, status, seq, traceparent, tracestate, created_at, deadline_at)
    SELECT e.id, e.project, e.sandbox, e.revision, e.key, e.lineage, e.person, e.surface, 'Admitted', 1, e.traceparent, e.tracestate,
           moment, moment + first_claim_ms * interval '1 millisecond'
      FROM unnest(e_id, e_project, e_sandbox, e_revision, e_key, e_lineage, e_person, e_surface, e_traceparent, e_tracestate, e_idempotency_key)
           AS e (id, project, sandbox, revision, key, lineage, person, surface, traceparent, tracestate, idempotency_key)
     WHERE e.idempotency_key IS NULL OR e.id = ANY (fresh)
     ORDER BY e.id
    ON CONFLICT (id) DO NOTHING RETURNING id
  ) SELECT array_agg(array_position(e_id, b.id)) INTO started FROM begun b;
  IF started IS NULL THEN
    RETURN;
  END IF;
  INSERT INTO money.execution_nodes (execution, ordinal, node, kind, project, sources, state, seq, ports, output, duration_ms, completed_at)
  SELECT e_id[n.run], n.ordinal, n.node, n.kind, e_project[n.run], n.sources::integer[], n.state, n.seq, n.ports, nullif(n.output, ''),
         CASE WHEN n.seq IS NOT NULL THEN 0 END, CASE WHEN n.state IN ('Succeeded', 'Skipped') THEN moment END
    FROM unnest(n_execution, n_ordinal, n_node, n_kind, n_sources, n_state, n_seq, n_ports, n_output)
         AS n (run, ordinal, node, kind, sources, state, seq, ports, output)
   WHERE n.run = ANY (started);
  rung := money.enqueue_ready_nodes_v1(ARRAY(SELECT DISTINCT e_project[s] FROM unnest(started) s), nodes_at_once, moment)::text;
END $$;

GRANT SELECT ON control.sandboxes, control.revisions TO svc_ledger;
GRANT SELECT, INSERT, UPDATE, DELETE ON control.sandboxes TO svc_console; -- DELETE: with their project
GRANT SELECT, INSERT, UPDATE, DELETE ON control.revisions TO svc_console;
GRANT SELECT, INSERT, UPDATE, DELETE ON money.executions TO svc_ledger; -- its nodes go with it
GRANT SELECT, INSERT, UPDATE ON money.execution_nodes TO svc_ledger;
GRANT SELECT, INSERT ON money.assets TO svc_ledger;
GRANT SELECT ON money.executions, money.execution_nodes, money.assets TO svc_console;
REVOKE EXECUTE ON FUNCTION money.read_executions_v1, money.lock_executions_v1, money.write_executions_v1, money.enqueue_ready_nodes_v1, money.requeue_lost_nodes_v1,
  money.read_starts_v1, money.write_starts_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION money.read_executions_v1, money.lock_executions_v1, money.write_executions_v1, money.enqueue_ready_nodes_v1, money.requeue_lost_nodes_v1,
  money.read_starts_v1, money.write_starts_v1 TO svc_ledger;

--------------------------------------------------------------------------------------------- who a run stands for

-- In whose name the nodes of a run call, and why they may not any more (null: they may). A key's run goes by the lineage: a key
-- that was rotated or has expired since does not stop it, but a revocation does, and its issuer's loss of rights (decisions.md, 5).
-- A person's run in the console has neither key nor lineage nor limit, and stands as long as that person may invoke.
CREATE VIEW money.execution_callers AS
SELECT e.id AS execution, e.project, e.error IS NULL AND e.completed_at IS NULL AS goes_on,
       coalesce(e.key, '') AS key, coalesce(e.lineage, '') AS lineage, k.policy, k.limit_micro, k.limit_reset,
       CASE
         WHEN e.key IS NULL THEN
           CASE WHEN (SELECT g.person FROM control.project_grants g WHERE g.project = e.project AND g.person = e.person
                         AND g.role IN ('Project Owner', 'Project Consumer')) IS NULL THEN 'not_permitted' END
         WHEN k.id IS NULL THEN 'key_revoked'
         WHEN (SELECT bool_or(h.revoked_at IS NOT NULL AND (h.rotated_to IS NULL OR h.id = e.key))
                 FROM control.keys h WHERE h.lineage = e.lineage) THEN 'key_revoked'
         WHEN NOT k.issuer_authorized THEN 'key_issuer_denied'
       END AS refusal
  FROM money.executions e
  LEFT JOIN LATERAL (SELECT * FROM money.callers c WHERE c.id = e.key LIMIT 1) k ON true;

GRANT SELECT ON money.execution_callers TO svc_ledger;

----------------------------------------------------------------------------------- what can be called as a model

-- The sandbox products of a project that run for external callers now, each with its active revision (spec 3.1). As a model
-- can be called what has a `chat_input` (spec 4.1, 4.2).
CREATE VIEW money.callable_sandboxes AS
SELECT s.project, s.id, s.name, s.description, s.activated_at, r.number AS revision, r.manifest, r.chat_input, r.chat_output
  FROM control.sandboxes s
  JOIN control.revisions r ON r.sandbox = s.id AND r.number = s.active_revision
 WHERE NOT s.suspended;

-- The first of what a key has to list to run a flow, the flow itself and each product of its manifest, that it does not list;
-- null where it may run it (decisions.md, 5).
CREATE FUNCTION money.unlisted_v1(of_key text, policy text, sandbox text, manifest text[]) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT n.resource FROM unnest(ARRAY[sandbox] || coalesce(manifest, '{}')) WITH ORDINALITY n (resource, ordinal)
   WHERE policy = 'listed'
     AND NOT EXISTS (SELECT FROM control.key_resources r WHERE r.key = of_key AND r.resource = n.resource)
   ORDER BY n.ordinal LIMIT 1
$$;

GRANT SELECT ON money.callable_sandboxes TO svc_ledger;
REVOKE EXECUTE ON FUNCTION money.unlisted_v1 FROM PUBLIC;
GRANT EXECUTE ON FUNCTION money.unlisted_v1 TO svc_ledger;
