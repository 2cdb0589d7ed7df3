-- Reads executions (F1 of write_executions): a list of `[id, project, sandbox, revision, status, seq, version, failing,
-- deadline in Unix milliseconds, nodes, digest of its package, who stopped it]`, each node being `[state, attempt,
-- deaths, lease, instance, call, reservation, ports]`, in the order of the graph. Also returns which of `instances` are
-- alive, and the outputs of the sources of nodes to be claimed: `s_claim` is the index of the claim (from 1),
-- `s_ordinal` the source.
CREATE OR REPLACE FUNCTION money.read_executions(
  ids text[],
  instances text[],
  c_execution text[],
  c_node text[],
  OUT at_ms bigint,
  OUT executions text, -- or null
  OUT live_instances text[], -- or null
  OUT s_claim integer[], -- or null
  OUT s_ordinal integer[], -- or null
  OUT s_output bytea[] -- or null
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  oldest_id text := (SELECT min(i) FROM unnest(ids || c_execution) i); -- B10 of run_batch
  newest_id text := (SELECT max(i) FROM unnest(ids || c_execution) i);
BEGIN
  SELECT json_agg(json_build_array(
           e.id,
           e.project,
           e.sandbox,
           e.revision,
           e.status,
           e.seq,
           e.version,
           e.error IS NOT NULL,
           floor(extract(epoch FROM e.deadline_at) * 1000)::bigint,
           n.nodes,
           e.digest,
           -- The form written by executionCancelled of packages/api/src/execution.ts. Other errors are not parsed: they
           -- may contain text that json refuses.
           CASE WHEN substring(e.error FROM 1 FOR 29) = '{"code":"execution_cancelled"'::bytea
                THEN convert_from(e.error, 'UTF8')::json -> 'details' ->> 'by' END))
    INTO executions
    FROM money.executions e
    CROSS JOIN LATERAL (
      SELECT json_agg(json_build_array(
               n.state,
               n.attempt,
               n.deaths,
               n.lease,
               n.instance,
               n.call,
               n.reservation,
               n.ports) ORDER BY n.ordinal) AS nodes
        FROM money.execution_nodes n
       WHERE n.execution = e.id AND n.execution BETWEEN oldest_id AND newest_id) n
   WHERE e.id = ANY (ids) AND e.id BETWEEN oldest_id AND newest_id;
  at_ms := floor(extract(epoch FROM clock_timestamp()) * 1000);
  IF cardinality(instances) > 0 THEN
    live_instances := ARRAY(SELECT h.id FROM money.instances h WHERE h.id = ANY (instances) AND h.ended_at IS NULL);
  END IF;
  IF cardinality(c_execution) > 0 THEN
    SELECT array_agg(c.ord::integer), array_agg(s.ordinal), array_agg(s.output) INTO s_claim, s_ordinal, s_output
      FROM unnest(c_execution, c_node) WITH ORDINALITY AS c (execution, node, ord)
      CROSS JOIN LATERAL (
        SELECT n.sources FROM money.execution_nodes n
         WHERE n.execution = c.execution AND n.execution BETWEEN oldest_id AND newest_id
           AND n.node = c.node LIMIT 1) t -- it may have ended since the first statement
      CROSS JOIN LATERAL (
        SELECT s.ordinal, s.output FROM money.execution_nodes s
         WHERE s.execution = c.execution AND s.execution BETWEEN oldest_id AND newest_id
           AND s.ordinal = ANY (t.sources) AND s.state = 'Succeeded'
        OFFSET 0) s; -- keeps this one index probe per claim (F5 of write_executions)
  END IF;
END $$;
