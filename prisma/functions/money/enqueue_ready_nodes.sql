-- Enqueues ready nodes of these projects as far as there is room (F4 of write_executions).
-- Returns the jobs as a list of `[execution, node, attempt, traceparent, tracestate]`; null: none.
CREATE OR REPLACE FUNCTION money.enqueue_ready_nodes(
  projects text[],
  max_concurrent_nodes integer,
  moment timestamptz,
  OUT jobs json
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  next_execution text[];
  next_ordinal integer[];
  oldest_execution text; -- B10 of run_batch
  newest_execution text;
BEGIN
  WITH room AS MATERIALIZED (
    SELECT p AS project,
           max_concurrent_nodes - (
             SELECT count(*) FROM (
               SELECT FROM money.execution_nodes r
                WHERE r.project = p AND r.state IN ('Ready', 'Running') AND r.enqueued_at IS NOT NULL
                LIMIT max_concurrent_nodes) t) AS free
      FROM unnest(projects) p
  ), next AS MATERIALIZED (
    SELECT n.execution, n.ordinal FROM room CROSS JOIN LATERAL (
      SELECT c.execution, c.ordinal FROM money.execution_nodes c
       WHERE c.project = room.project AND c.state = 'Ready' AND c.enqueued_at IS NULL
       ORDER BY c.project, c.execution LIMIT greatest(room.free, 0) FOR UPDATE SKIP LOCKED) n
  )
  SELECT array_agg(execution), array_agg(ordinal), min(execution), max(execution)
    INTO next_execution, next_ordinal, oldest_execution, newest_execution FROM next;
  IF next_execution IS NULL THEN
    RETURN;
  END IF;
  WITH enqueued AS (
    UPDATE money.execution_nodes n SET enqueued_at = moment
      FROM unnest(next_execution, next_ordinal) AS next (execution, ordinal)
     WHERE n.execution = ANY (next_execution) AND n.execution BETWEEN oldest_execution AND newest_execution
       AND n.execution = next.execution AND n.ordinal = next.ordinal
    RETURNING n.execution, n.ordinal, n.node, n.attempt
  )
  SELECT json_agg(
           json_build_array(q.execution, q.node, q.attempt, e.traceparent, e.tracestate)
           ORDER BY q.execution, q.ordinal)
    INTO jobs
    FROM enqueued q
    LEFT JOIN LATERAL (
      SELECT x.traceparent, x.tracestate FROM money.executions x
       WHERE x.id = q.execution AND x.id BETWEEN oldest_execution AND newest_execution LIMIT 1) e ON true;
END $$;
