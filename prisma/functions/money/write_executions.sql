-- What a batch of flow items decides is written here; what it needs to read, read_executions reads
-- (services/ledger/src/executions).
--
--   F1  What is decided is decided from one reading of an execution and all its nodes, by one statement, without a
--       lock; or from what a replica has in its cache since its own last write. It is written only if nothing was
--       decided about that execution since: its version is compared under its lock, and rises with each write, by a
--       step that nobody can foresee. So two siblings that end at once on two replicas never both decide without the
--       other; the later one is decided again.
--   F2  Locks: the wallets of executions that close a reservation, in id order, and nothing else; then the executions,
--       in id order; then what money.close_node_calls locks. What somebody else has locked is left out, unless the caller
--       waits.
--   F3  Results, closings and what may run next are one transaction: money moves exactly when its node ends.
--   F4  Nodes are enqueued last, as many of each project as have room, those of its oldest executions first. Nodes that
--       another transaction is writing are passed over. Two replicas that enqueue for one project at once may each
--       count without the other, so the room is exact on one replica, and never more than the sum of what each would
--       give.
--   F5  As in run_batch, no plan leans on statistics (B8 of run_batch).
--   F6  A batch that only claims does not wait for the disk. A claim that a crash takes back is a node that is Ready
--       again: whoever had it is fenced, and has called nobody, because the admission of a paid call finds its lease
--       gone, and one that was committed has taken the claim before it to the disk too. Who is fenced at its admission
--       gives the node back: a repeated claim may have granted it once more since.
--   F7  A node that is handed on (R10 of decide-execution.ts) takes the place of the one that ended: it is Running at once,
--       and counts as enqueued. It gets a job when it is given back, or its instance ends.
--
-- e_ are the executions, n_ the nodes that change, c_ the reservations that close; n_execution and c_execution say of
-- which execution they are (from 1). Empty bytes are none. `wait_for_locks` waits for executions and wallets that
-- others have locked. Where one of `instances` has ended, nothing is written. Answers which executions were written
-- (the others are to be decided again), which of the closings were made and what came of them, and what was enqueued.
CREATE OR REPLACE FUNCTION money.write_executions(
  wait_for_locks boolean,
  nodes_at_once integer,
  instances text[],
  e_id text[],
  e_project text[],
  e_version integer[],
  e_next_version integer[],
  e_status text[],
  e_seq integer[],
  e_error bytea[],
  e_output bytea[],
  e_started boolean[],
  e_deadline_ms integer[], -- from now; null: as it was
  e_enqueues boolean[], -- nodes of it wait for a place in the queue, or it has left places to others
  n_execution integer[],
  n_ordinal integer[],
  n_state text[],
  n_attempt integer[],
  n_deaths integer[],
  n_seq integer[],
  n_ports text[],
  n_output bytea[],
  n_error bytea[],
  n_instance text[],
  n_lease text[],
  n_call text[],
  n_reservation text[],
  n_duration_ms integer[],
  n_remote_ms integer[],
  c_execution integer[],
  c_id text[],
  c_kind text[],
  c_usage jsonb,
  c_reason text[],
  OUT written integer[],
  OUT closed integer[],
  OUT closings text,
  OUT jobs text
) LANGUAGE plpgsql
  SET lock_timeout = '250ms'
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  wanted text[];
  locked text[] := '{}';
  moment timestamptz(3);
  locked_versions text[]; -- id and version of each execution that is locked
  outcome json;
  oldest_id text := e_id[1]; -- B10 of run_batch
  newest_id text := e_id[1];
  moved text[]; -- projects for which nodes are to be enqueued
BEGIN
  IF cardinality(e_id) > 1 THEN
    SELECT min(i), max(i) INTO oldest_id, newest_id FROM unnest(e_id) i;
  END IF;

  IF cardinality(instances) > 0
     AND (SELECT count(*) FROM money.instances h
           WHERE h.id = ANY (instances) AND h.ended_at IS NULL) < cardinality(instances) THEN
    RETURN;
  END IF;

  -- F2: the wallets of executions that close a reservation
  IF cardinality(c_id) > 0 THEN
    SELECT array_agg(DISTINCT e_project[e]) INTO wanted FROM unnest(c_execution) e;
    FOR round IN 1 .. 2 LOOP
      IF wait_for_locks THEN
        SELECT array_agg(w.project) INTO locked FROM (
          SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE) w;
      ELSE
        SELECT array_agg(w.project) INTO locked FROM (
          SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE SKIP LOCKED) w;
      END IF;
      EXIT WHEN round = 2 OR cardinality(locked) = cardinality(wanted);
      INSERT INTO money.wallets (project) -- of a project that was never funded nor called
      SELECT p FROM unnest(wanted) p
       WHERE NOT p = ANY (ARRAY(SELECT w.project FROM money.wallets w WHERE w.project = ANY (wanted)))
      ON CONFLICT DO NOTHING;
      EXIT WHEN NOT FOUND;
    END LOOP;
    locked := coalesce(locked, '{}');
  END IF;

  -- F2: then the executions. A locked row is read as it is now, so its version is that of this moment (F1).
  IF wait_for_locks THEN
    SELECT array_agg(l.id || ' ' || l.version) INTO locked_versions FROM (
      SELECT id, version FROM money.executions
       WHERE id = ANY (e_id) AND id BETWEEN oldest_id AND newest_id ORDER BY id FOR UPDATE) l;
  ELSE
    SELECT array_agg(l.id || ' ' || l.version) INTO locked_versions FROM (
      SELECT id, version FROM money.executions
       WHERE id = ANY (e_id) AND id BETWEEN oldest_id AND newest_id ORDER BY id FOR UPDATE SKIP LOCKED) l;
  END IF;
  SELECT array_agg(e.ord::integer) INTO written
    FROM unnest(e_id, e_project, e_version) WITH ORDINALITY AS e (id, project, version, ord)
   WHERE e.id || ' ' || e.version = ANY (locked_versions)
     AND (e.project = ANY (locked) OR NOT e.ord = ANY (c_execution));
  IF written IS NULL THEN
    RETURN;
  END IF;
  moment := clock_timestamp();

  -- F3
  IF cardinality(c_id) > 0 THEN
    SELECT array_agg(c.ord::integer ORDER BY c.ord) INTO closed
      FROM unnest(c_execution) WITH ORDINALITY AS c (execution, ord) WHERE c.execution = ANY (written);
    IF cardinality(closed) < cardinality(c_id) THEN -- of the executions that are written
      SELECT array_agg(c_id[n] ORDER BY n),
             array_agg(c_kind[n] ORDER BY n),
             jsonb_agg(c_usage -> (n - 1) ORDER BY n),
             array_agg(c_reason[n] ORDER BY n)
        INTO c_id, c_kind, c_usage, c_reason FROM unnest(closed) n;
    END IF;
    IF closed IS NOT NULL THEN
      outcome := money.close_node_calls(
        locked => locked,
        moment => moment,
        answer_day => (moment AT TIME ZONE 'UTC')::date,
        c_id => c_id,
        c_kind => c_kind,
        c_usage => c_usage,
        c_answered => NULL, -- no answer of a node is kept apart from it
        c_reason => c_reason);
      IF position('"deferred"' IN outcome::text) > 0 THEN
        RAISE serialization_failure
          USING MESSAGE = 'a reservation of an execution could not be closed under the lock of its wallet';
      END IF;
      closings := outcome::text;
    END IF;
  END IF;
  UPDATE money.execution_nodes n SET
         state = c.state,
         attempt = c.attempt,
         deaths = c.deaths,
         seq = c.seq,
         ports = c.ports,
         output = nullif(c.output, ''),
         error = nullif(c.error, ''),
         instance = c.instance,
         lease = c.lease,
         call = c.call,
         reservation = c.reservation,
         duration_ms = c.duration_ms,
         remote_ms = c.remote_ms,
         enqueued_at = CASE -- one that is handed on takes its place without a job (F7)
           WHEN c.state = 'Running' THEN coalesce(n.enqueued_at, moment)
           WHEN c.state NOT IN ('Ready', 'Pending') THEN n.enqueued_at
         END,
         claimed_at = CASE c.state
           WHEN 'Running' THEN moment
           WHEN 'Succeeded' THEN n.claimed_at
           WHEN 'Failed' THEN n.claimed_at
         END,
         completed_at = CASE WHEN c.state IN ('Succeeded', 'Failed', 'Skipped') THEN moment END
    FROM (SELECT e_id[u.e] AS execution, u.*
            FROM unnest(n_execution, n_ordinal, n_state, n_attempt, n_deaths, n_seq, n_ports, n_output, n_error,
                        n_instance, n_lease, n_call, n_reservation, n_duration_ms, n_remote_ms)
                     AS u (e, ordinal, state, attempt, deaths, seq, ports, output, error,
                        instance, lease, call, reservation, duration_ms, remote_ms)
           WHERE u.e = ANY (written)) c
   WHERE n.execution = ANY (e_id) AND n.execution BETWEEN oldest_id AND newest_id
     AND n.execution = c.execution AND n.ordinal = c.ordinal;
  UPDATE money.executions e SET
         version = c.next_version,
         status = c.status,
         seq = c.seq,
         error = coalesce(nullif(c.error, ''), e.error),
         output = coalesce(nullif(c.output, ''), e.output),
         started_at = CASE WHEN c.started THEN moment ELSE e.started_at END,
         deadline_at = coalesce(moment + c.deadline_ms * interval '1 millisecond', e.deadline_at),
         completed_at = CASE WHEN c.status IN ('Succeeded', 'Failed', 'Cancelled') THEN moment END
    FROM unnest(e_id, e_next_version, e_status, e_seq, e_error, e_output, e_started, e_deadline_ms) WITH ORDINALITY
         AS c (id, next_version, status, seq, error, output, started, deadline_ms, ord)
   WHERE e.id = ANY (e_id) AND e.id BETWEEN oldest_id AND newest_id AND e.id = c.id AND c.ord = ANY (written);

  IF true = ANY (e_enqueues) THEN
    SELECT array_agg(DISTINCT e_project[e]) INTO moved FROM unnest(written) e WHERE e_enqueues[e];
  END IF;
  IF moved IS NOT NULL THEN
    jobs := money.enqueue_ready_nodes(moved, nodes_at_once, moment)::text; -- F4
  ELSIF cardinality(n_state) > 0 AND 'Running' = ALL (n_state)
        AND NOT EXISTS (SELECT FROM unnest(e_error, e_output) AS e (error, output)
                         WHERE e.error <> '' OR e.output <> '') THEN
    PERFORM set_config('synchronous_commit', 'off', true); -- F6
  END IF;
END $$;
