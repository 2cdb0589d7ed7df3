-- Writes what was decided on one execution that closes no reservation. The rules are those of write_executions; a
-- statement by primary key starts in a fraction of the time of one over lists.
--   O1  An execution that another session has locked is not waited for, and not written.
--   O2  Its ready nodes are enqueued as they are written, if no node of the project waits for a place and there are
--       places for all of them. Otherwise enqueue_ready_nodes decides (F4 of write_executions).
-- needs: money.execution_change, money.node_change, money.enqueue_ready_nodes
CREATE OR REPLACE FUNCTION money.write_one(
  max_concurrent_nodes integer,
  change money.execution_change,
  nodes money.node_change[],
  OUT is_written boolean,
  OUT jobs text -- or null
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_mergejoin = off
AS $$
DECLARE
  c money.node_change;
  moment timestamptz(3);
  traceparent text;
  tracestate text;
  has_room boolean := false;
  name text;
  ready json[] := '{}';
  all_running boolean := cardinality(nodes) > 0;
BEGIN
  SELECT e.traceparent, e.tracestate INTO traceparent, tracestate FROM money.executions e
   WHERE e.id = change.id AND e.version = change.version FOR UPDATE SKIP LOCKED; -- F1 of write_executions
  is_written := FOUND;
  IF NOT is_written THEN
    RETURN;
  END IF;
  moment := clock_timestamp();
  IF change.enqueues THEN
    has_room := NOT EXISTS (
        SELECT FROM money.execution_nodes n
         WHERE n.project = change.project AND n.state = 'Ready' AND n.enqueued_at IS NULL)
      AND max_concurrent_nodes - cardinality(nodes) >= (
        SELECT count(*) FROM (
          SELECT FROM money.execution_nodes n
           WHERE n.project = change.project AND n.state IN ('Ready', 'Running') AND n.enqueued_at IS NOT NULL
           LIMIT max_concurrent_nodes) t);
  END IF;
  FOREACH c IN ARRAY nodes LOOP
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
           enqueued_at = CASE
             WHEN c.state = 'Running' THEN coalesce(n.enqueued_at, moment) -- F7 of write_executions
             WHEN c.state = 'Ready' AND has_room THEN moment
             WHEN c.state NOT IN ('Ready', 'Pending') THEN n.enqueued_at
           END,
           claimed_at = CASE c.state
             WHEN 'Running' THEN moment
             WHEN 'Succeeded' THEN coalesce(n.claimed_at, moment - c.duration_ms * interval '1 millisecond')
             WHEN 'Failed' THEN coalesce(n.claimed_at, moment - c.duration_ms * interval '1 millisecond')
           END,
           completed_at = CASE WHEN c.state IN ('Succeeded', 'Failed', 'Skipped') THEN moment END
     WHERE n.execution = change.id AND n.ordinal = c.ordinal
    RETURNING n.node INTO name;
    all_running := all_running AND c.state = 'Running';
    IF c.state = 'Ready' AND has_room THEN
      ready := ready || json_build_array(change.id, name, c.attempt, traceparent, tracestate);
    END IF;
  END LOOP;
  UPDATE money.executions e SET
         version = change.next_version,
         status = change.status,
         seq = change.seq,
         error = coalesce(convert_to(change.error, 'UTF8'), e.error),
         output = coalesce(convert_to(change.output, 'UTF8'), e.output),
         started_at = CASE WHEN change.started THEN moment ELSE e.started_at END,
         deadline_at = coalesce(moment + change.deadline_in_ms * interval '1 millisecond', e.deadline_at),
         completed_at = CASE WHEN change.status IN ('Succeeded', 'Failed', 'Cancelled') THEN moment END
   WHERE e.id = change.id;

  IF has_room THEN
    jobs := CASE WHEN cardinality(ready) > 0 THEN array_to_json(ready)::text END;
  ELSIF change.enqueues THEN
    jobs := money.enqueue_ready_nodes(ARRAY[change.project], max_concurrent_nodes, moment)::text;
  ELSIF all_running AND change.error IS NULL AND change.output IS NULL THEN
    PERFORM set_config('synchronous_commit', 'off', true); -- F6 of write_executions
  END IF;
END $$;
