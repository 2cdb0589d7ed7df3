-- Starts executions. `nodes` are all their nodes. An execution whose idempotency key or id was taken meanwhile is not
-- started; chats claim their keys in the scope of all chats (rules §5.1). Results reused from an earlier execution are
-- copied here as stored (flows §4.12); that execution has ended, so they no longer change. Returns the ids of the
-- started executions and the enqueued nodes.
--
-- What permits a key to start them was read before. The key and the sandbox product are read again here, under a lock that
-- the barrier of a revocation waits for (architecture §M2): once it has passed, no execution starts that was permitted
-- before. One that is no longer permitted is not started, nor one of a user whose project was deleted meanwhile. Its
-- products are checked when its nodes call them.
-- needs: money.execution_start, money.node_start, money.callers
CREATE OR REPLACE FUNCTION money.write_starts(
  max_concurrent_nodes integer,
  executions money.execution_start[],
  nodes money.node_start[],
  OUT started text[], -- or null
  OUT jobs text -- or null
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  moment timestamptz(3);
  fresh text[];
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('money.starts'), hashtext(p.project))
     FROM (SELECT DISTINCT e.project FROM unnest(executions) e ORDER BY e.project) p;
  moment := clock_timestamp();
  executions := ARRAY(
    SELECT e
      FROM unnest(executions) e
      LEFT JOIN LATERAL (SELECT c AS row FROM money.callers c WHERE c.id = e.key LIMIT 1) k ON true
      LEFT JOIN LATERAL (SELECT s.suspended FROM control.sandboxes s WHERE s.id = e.sandbox LIMIT 1) s ON true
     WHERE s.suspended IS NOT NULL -- the sandbox product is there
       AND (e.key IS NULL OR (money.key_refusal(k.row, moment) IS NULL AND NOT s.suspended)));

  WITH taken AS ( -- a fixed order, so that batches never deadlock
    INSERT INTO money.idempotency_keys (project, scope, key, fingerprint, invocation, reservation, created_at)
    SELECT e.project, e.scope, e.idempotency_key, decode(e.fingerprint, 'hex'), e.id, e.id, moment
      FROM unnest(executions) e WHERE e.idempotency_key IS NOT NULL
     ORDER BY e.project, e.scope, e.idempotency_key
    ON CONFLICT DO NOTHING RETURNING invocation
  ) SELECT array_agg(invocation) INTO fresh FROM taken;
  WITH begun AS (
    INSERT INTO money.executions (
      id,
      project,
      sandbox,
      revision,
      digest,
      key,
      lineage,
      user_id,
      surface,
      max_micro,
      status,
      seq,
      output,
      traceparent,
      tracestate,
      created_at,
      deadline_at,
      completed_at,
      rerun_of,
      tag
    )
    SELECT
      e.id,
      e.project,
      e.sandbox,
      e.revision,
      e.digest,
      e.key,
      e.lineage,
      e.user_id,
      e.surface,
      e.max_micro,
      e.status,
      e.seq,
      o.output,
      e.traceparent,
      e.tracestate,
      moment,
      moment + e.first_claim_ms * interval '1 millisecond',
      CASE WHEN e.status = 'Succeeded' THEN moment END,
      e.rerun_of,
      e.tag
      FROM unnest(executions) e
      LEFT JOIN LATERAL (
        SELECT n.output FROM money.execution_nodes n
         WHERE e.output IS NOT NULL AND n.execution = e.rerun_of AND n.ordinal = e.output LIMIT 1) o ON true
     WHERE e.idempotency_key IS NULL OR e.id = ANY (fresh)
     ORDER BY e.id
    ON CONFLICT (id) DO NOTHING RETURNING id
  ) SELECT array_agg(id) INTO started FROM begun;
  IF NOT coalesce(fresh, '{}') <@ coalesce(started, '{}') THEN -- the key was free, so the id was taken
    RAISE EXCEPTION 'an execution was begun under another idempotency key: one of %', fresh;
  END IF;
  IF started IS NULL THEN
    RETURN;
  END IF;
  INSERT INTO money.execution_nodes (
    execution,
    ordinal,
    node,
    kind,
    project,
    sources,
    state,
    seq,
    ports,
    output,
    duration_ms,
    completed_at,
    taken_over
  )
  SELECT
    n.execution,
    n.ordinal,
    n.node,
    n.kind,
    e.project,
    n.sources,
    n.state,
    n.seq,
    coalesce(n.ports, o.ports),
    -- null if the earlier execution was deleted meanwhile; null is not a valid result, so the insert fails
    coalesce(convert_to(n.output, 'UTF8'), o.output),
    CASE WHEN n.seq IS NOT NULL THEN 0 END,
    CASE WHEN n.state IN ('Succeeded', 'Skipped') THEN moment END,
    coalesce(n.taken_over, false)
    FROM unnest(executions) e
    JOIN unnest(nodes) n ON n.execution = e.id
    LEFT JOIN LATERAL (
      SELECT b.ports, b.output FROM money.execution_nodes b
       WHERE n.earlier IS NOT NULL AND n.state = 'Succeeded'
         AND b.execution = e.rerun_of AND b.project = e.project AND b.ordinal = n.earlier LIMIT 1) o ON true
   WHERE e.id = ANY (started);
  jobs := money.enqueue_ready_nodes(
    ARRAY(SELECT DISTINCT e.project FROM unnest(executions) e WHERE e.id = ANY (started)), max_concurrent_nodes, moment)::text;
END $$;
