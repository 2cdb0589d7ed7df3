-- What a batch of flow items decides is written here; what it needs to read, read_executions reads
-- (services/ledger/src/executions).
--
--   F1  What is decided is decided from one reading of an execution and all its nodes, by one statement, without a
--       lock; or from what a replica has in its cache since its own last write. It is written only if nothing was
--       decided about that execution since: its version is compared under its lock, and rises with each write, by a
--       step that no one can foresee. So two siblings that end at once on two replicas never both decide without the
--       other; the later one is decided again.
--   F2  Locks: the wallets of executions that close a reservation, in id order, and nothing else; then the executions,
--       in id order; then what money.close_node_calls locks. What someone else has locked is left out, unless the caller
--       waits.
--   F3  Results, closings and what may run next are one transaction: money moves exactly when its node ends.
--   F4  Nodes are enqueued last, as many of each project as have room, those of its oldest executions first. Nodes that
--       another transaction is writing are passed over. Two replicas that enqueue for one project at once may each
--       count without the other, so the room is exact on one replica, and never more than the sum of what each would
--       give.
--   F5  As in run_batch, no plan leans on statistics (B8 of run_batch).
--   F6  A batch that only claims does not wait for the disk. A claim that a crash takes back is a node that is Ready
--       again: anyone who had it is fenced, and has called no one, because the admission of a paid call finds its lease
--       gone, and one that was committed has taken the claim before it to the disk too. Who is fenced at its admission
--       gives the node back: a repeated claim may have granted it again since.
--   F7  A chained node (R10 of decide-execution.ts) takes the place of the one that ended: it is Running at once,
--       and counts as enqueued. It gets a job when it is given back, or its instance ends.
--
-- Takes all that changes of some executions. `wait_for_locks` waits for executions and wallets that others have locked. Where one of
-- `instances` has ended, nothing is written. Answers the ids of the executions that were written (the others are to be decided
-- again), what came of their closings, in order, and what was enqueued.
-- needs: money.execution_change, money.node_change, money.closing
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
         enqueued_at = CASE -- a chained node takes its place without a job (F7)
           WHEN c.state = 'Running' THEN coalesce(n.enqueued_at, moment)
           WHEN c.state NOT IN ('Ready', 'Pending') THEN n.enqueued_at
         END,
         claimed_at = CASE c.state
           WHEN 'Running' THEN moment
           WHEN 'Succeeded' THEN n.claimed_at
           WHEN 'Failed' THEN n.claimed_at
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
