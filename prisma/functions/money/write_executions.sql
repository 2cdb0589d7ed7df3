-- Writes what a batch of flow items has decided. The facts are read by read_executions
-- (services/ledger/src/executions).
--
--   F1  A decision is made from one read of an execution and all its nodes, by one statement without a lock, or from
--       the state that the replica has cached since its last write. It is written only if the execution has not changed
--       since: its version is compared under its lock and rises with each write, by an unpredictable step. So two
--       siblings that end concurrently on two replicas never both decide without the other; the later one is decided
--       again.
--   F2  Lock order: first only the wallets of executions that close a reservation, in id order; then the executions, in
--       id order; then the locks of money.close_node_calls. Rows locked by other sessions are skipped, unless the
--       caller waits.
--   F3  Results, closings and newly ready nodes are written in one transaction: money moves exactly when its node ends.
--   F4  Nodes are enqueued last, as many per project as there is room for, those of its oldest executions first. Nodes
--       that another transaction is writing are skipped. Two replicas that enqueue for one project concurrently may not
--       see each other's nodes, so the limit is exact on one replica and never exceeds the sum of what each would
--       enqueue.
--   F5  As in run_batch, no plan depends on statistics (B8 of run_batch).
--   F6  A batch of claims only does not wait for the disk. If a crash loses a claim, its node is Ready again. The
--       worker that had claimed it is fenced and has made no paid call: the admission of a paid call would find the
--       lease gone, and a committed admission has flushed the earlier claim to disk too. A worker fenced at admission
--       gives the node back, because a repeated claim may have been granted again since.
--   F7  A chained node (R10 of decide-execution.ts) takes the queue place of the node that ended: it is Running
--       immediately and counts as enqueued. It gets a job when it is given back or its instance ends.
--   F8  One execution alone that closes no reservation is written by write_one, which does not wait for the lock of the execution.
--
-- Takes all changes of some executions. `wait_for_locks` waits for executions and wallets locked by other sessions. If
-- one of `instances` has ended, nothing is written. Returns the ids of the written executions (the others are to be
-- decided again), the outcomes of their closings, in order, and the enqueued nodes.
-- needs: money.execution_change, money.node_change, money.closing, money.write_one
CREATE OR REPLACE FUNCTION money.write_executions(
  wait_for_locks boolean,
  max_concurrent_nodes integer,
  instances text[],
  changes money.execution_change[],
  nodes money.node_change[],
  to_close money.closing[],
  OUT written text[], -- or null
  OUT closings text, -- or null
  OUT jobs text -- or null
) LANGUAGE plpgsql
  SET lock_timeout = '250ms'
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  ids text[];
  closing_ids text[]; -- executions that close a reservation
  wanted text[];
  locked text[] := '{}';
  moment timestamptz(3);
  locked_versions text[]; -- id and version of each execution that is locked
  outcome json;
  oldest_id text; -- B10 of run_batch
  newest_id text;
  moved text[]; -- projects for which nodes are to be enqueued
BEGIN
  SELECT array_agg(c.id), min(c.id), max(c.id) INTO ids, oldest_id, newest_id FROM unnest(changes) c;

  IF cardinality(instances) > 0
     AND (SELECT count(*) FROM money.instances h
           WHERE h.id = ANY (instances) AND h.ended_at IS NULL) < cardinality(instances) THEN
    RETURN;
  END IF;

  IF cardinality(changes) = 1 AND cardinality(to_close) = 0 AND NOT wait_for_locks THEN -- F8
    SELECT CASE WHEN o.is_written THEN ids END, o.jobs INTO written, jobs
      FROM money.write_one(max_concurrent_nodes, changes[1], nodes) o;
    RETURN;
  END IF;

  -- F2: the wallets of executions that close a reservation
  IF cardinality(to_close) > 0 THEN
    closing_ids := ARRAY(SELECT DISTINCT c.execution FROM unnest(to_close) c);
    SELECT array_agg(DISTINCT c.project) INTO wanted FROM unnest(changes) c WHERE c.id = ANY (closing_ids);
    FOR round IN 1 .. 2 LOOP
      IF wait_for_locks THEN
        SELECT array_agg(w.project) INTO locked FROM (
          SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE) w;
      ELSE
        SELECT array_agg(w.project) INTO locked FROM (
          SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE SKIP LOCKED) w;
      END IF;
      EXIT WHEN round = 2 OR cardinality(locked) = cardinality(wanted);
      INSERT INTO money.wallets (project) -- of a project that was never funded and never called
      SELECT p FROM unnest(wanted) p
       WHERE NOT p = ANY (ARRAY(SELECT w.project FROM money.wallets w WHERE w.project = ANY (wanted)))
      ON CONFLICT DO NOTHING;
      EXIT WHEN NOT FOUND;
    END LOOP;
    locked := coalesce(locked, '{}');
  END IF;

  -- F2: then the executions. A locked row is read in its newest version, so the version check is current (F1).
  IF wait_for_locks THEN
    SELECT array_agg(l.id || ' ' || l.version) INTO locked_versions FROM (
      SELECT id, version FROM money.executions
       WHERE id = ANY (ids) AND id BETWEEN oldest_id AND newest_id ORDER BY id FOR UPDATE) l;
  ELSE
    SELECT array_agg(l.id || ' ' || l.version) INTO locked_versions FROM (
      SELECT id, version FROM money.executions
       WHERE id = ANY (ids) AND id BETWEEN oldest_id AND newest_id ORDER BY id FOR UPDATE SKIP LOCKED) l;
  END IF;
  SELECT array_agg(c.id) INTO written FROM unnest(changes) c
   WHERE c.id || ' ' || c.version = ANY (locked_versions)
     AND (closing_ids IS NULL OR c.project = ANY (locked) OR NOT c.id = ANY (closing_ids));
  IF written IS NULL THEN
    RETURN;
  END IF;
  moment := clock_timestamp();

  -- F3
  IF closing_ids IS NOT NULL THEN
    to_close := ARRAY(SELECT c FROM unnest(to_close) c WHERE c.execution = ANY (written));
    IF cardinality(to_close) > 0 THEN
      outcome := money.close_node_calls(locked => locked, moment => moment, items => to_close);
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
         output = convert_to(c.output, 'UTF8'),
         error = convert_to(c.error, 'UTF8'),
         instance = c.instance,
         lease = c.lease,
         call = c.call,
         reservation = c.reservation,
         duration_ms = c.duration_ms,
         remote_ms = c.remote_ms,
         enqueued_at = CASE -- a chained node takes a queue place without a job (F7)
           WHEN c.state = 'Running' THEN coalesce(n.enqueued_at, moment)
           WHEN c.state NOT IN ('Ready', 'Pending') THEN n.enqueued_at
         END,
         claimed_at = CASE c.state
           WHEN 'Running' THEN moment
           WHEN 'Succeeded' THEN coalesce(n.claimed_at, moment - c.duration_ms * interval '1 millisecond')
           WHEN 'Failed' THEN coalesce(n.claimed_at, moment - c.duration_ms * interval '1 millisecond')
         END,
         completed_at = CASE WHEN c.state IN ('Succeeded', 'Failed', 'Skipped') THEN moment END
    FROM unnest(nodes) c
   WHERE c.execution = ANY (written)
     AND n.execution = ANY (written) AND n.execution BETWEEN oldest_id AND newest_id
     AND n.execution = c.execution AND n.ordinal = c.ordinal;
  UPDATE money.executions e SET
         version = c.next_version,
         status = c.status,
         seq = c.seq,
         error = coalesce(convert_to(c.error, 'UTF8'), e.error),
         output = coalesce(convert_to(c.output, 'UTF8'), e.output),
         started_at = CASE WHEN c.started THEN moment ELSE e.started_at END,
         deadline_at = coalesce(moment + c.deadline_in_ms * interval '1 millisecond', e.deadline_at),
         completed_at = CASE WHEN c.status IN ('Succeeded', 'Failed', 'Cancelled') THEN moment END
    FROM unnest(changes) c
   WHERE e.id = ANY (written) AND e.id BETWEEN oldest_id AND newest_id AND e.id = c.id;

  SELECT array_agg(DISTINCT c.project) INTO moved FROM unnest(changes) c WHERE c.enqueues AND c.id = ANY (written);
  IF moved IS NOT NULL THEN
    jobs := money.enqueue_ready_nodes(moved, max_concurrent_nodes, moment)::text; -- F4
  ELSIF cardinality(nodes) > 0 AND 'Running' = ALL (SELECT n.state FROM unnest(nodes) n)
        AND NOT EXISTS (SELECT FROM unnest(changes) c WHERE c.error IS NOT NULL OR c.output IS NOT NULL) THEN
    PERFORM set_config('synchronous_commit', 'off', true); -- F6
  END IF;
END $$;
