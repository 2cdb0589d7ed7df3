-- Returns what the job-requeuer enqueues: ready nodes of projects with room that were never enqueued, and nodes that
-- were enqueued `late_ms` ago but not claimed by any worker, at most `max_late` of these. Each project gets
-- an equal share, and the oldest go first, so a node that did not fit comes before those that were enqueued again.
-- The result is like that of money.enqueue_ready_nodes, but an empty list for none.
CREATE OR REPLACE FUNCTION money.requeue_lost_nodes(
  max_concurrent_nodes integer,
  late_ms integer,
  max_late integer,
  OUT jobs text
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
  late_since timestamptz(3) := moment - late_ms * interval '1 millisecond';
  projects text[];
  missed json;
  late json;
  next_execution text[];
  next_ordinal integer[];
  oldest_execution text; -- B10 of run_batch
  newest_execution text;
BEGIN
  WITH RECURSIVE waiting (project) AS ( -- each project once, regardless of the number of waiting nodes
    SELECT min(n.project) FROM money.execution_nodes n WHERE n.state = 'Ready' AND n.enqueued_at IS NULL
    UNION ALL
    SELECT (SELECT min(n.project) FROM money.execution_nodes n
             WHERE n.state = 'Ready' AND n.enqueued_at IS NULL AND n.project > w.project)
      FROM waiting w WHERE w.project IS NOT NULL
  ) SELECT array_agg(project) INTO projects FROM waiting WHERE project IS NOT NULL;
  IF projects IS NOT NULL THEN
    missed := money.enqueue_ready_nodes(projects, max_concurrent_nodes, moment);
  END IF;
  WITH RECURSIVE waiting (project) AS ( -- each project once, as above
    SELECT min(n.project) FROM money.execution_nodes n WHERE n.state = 'Ready' AND n.enqueued_at <= late_since
    UNION ALL
    SELECT (SELECT min(n.project) FROM money.execution_nodes n
             WHERE n.state = 'Ready' AND n.enqueued_at <= late_since AND n.project > w.project)
      FROM waiting w WHERE w.project IS NOT NULL
  ), oldest AS MATERIALIZED ( -- one row of each project, read in the order of its index
    SELECT w.project, greatest(max_late / count(*) OVER (), 1) AS share
      FROM waiting w CROSS JOIN LATERAL (
        SELECT n.enqueued_at FROM money.execution_nodes n
         WHERE n.project = w.project AND n.state = 'Ready' AND n.enqueued_at <= late_since
         ORDER BY n.project, n.enqueued_at LIMIT 1) first
     ORDER BY first.enqueued_at LIMIT max_late
  ), next AS MATERIALIZED (
    SELECT n.execution, n.ordinal FROM oldest CROSS JOIN LATERAL (
      SELECT c.execution, c.ordinal FROM money.execution_nodes c
       WHERE c.project = oldest.project AND c.state = 'Ready' AND c.enqueued_at <= late_since
       ORDER BY c.project, c.enqueued_at LIMIT oldest.share FOR UPDATE SKIP LOCKED) n
  )
  SELECT array_agg(execution), array_agg(ordinal), min(execution), max(execution)
    INTO next_execution, next_ordinal, oldest_execution, newest_execution FROM next;
  IF next_execution IS NOT NULL THEN
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
      INTO late
      FROM enqueued q
      LEFT JOIN LATERAL (
        SELECT x.traceparent, x.tracestate FROM money.executions x
         WHERE x.id = q.execution AND x.id BETWEEN oldest_execution AND newest_execution LIMIT 1) e ON true;
  END IF;
  jobs := coalesce(missed::jsonb, '[]') || coalesce(late::jsonb, '[]');
END $$;
