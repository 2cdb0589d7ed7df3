-- Begins executions: e_ are the executions, n_ all their nodes, n_execution says of which execution (from 1). An
-- execution whose idempotency key or id was taken meanwhile is not begun; those of chats are taken where all chats have
-- theirs (rules §5.1). Each may wait so long for the first claim of a node, and be charged so much (null: no ceiling).
-- Answers which were begun, and what was enqueued.
CREATE OR REPLACE FUNCTION money.write_starts(
  nodes_at_once integer,
  e_id text[],
  e_project text[],
  e_sandbox text[],
  e_revision integer[],
  e_digest text[], -- of the package that each runs
  e_key text[],
  e_lineage text[],
  e_person text[],
  e_surface text[],
  e_traceparent text[],
  e_tracestate text[],
  e_idempotency_key text[],
  e_fingerprint text[],
  e_first_claim_ms integer[],
  e_max_micro bigint[],
  n_execution integer[],
  n_ordinal integer[],
  n_node text[],
  n_kind text[],
  n_sources text[], -- each a list of ordinals, written as Postgres writes an array
  n_state text[],
  n_seq integer[],
  n_ports text[],
  n_output bytea[],
  OUT started integer[],
  OUT jobs text
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
  fresh text[];
BEGIN
  IF cardinality(array_remove(e_idempotency_key, NULL)) > 0 THEN
    WITH taken AS ( -- in one order everywhere, so that no two batches wait for each other
      INSERT INTO money.idempotency_keys (project, scope, key, fingerprint, invocation, reservation, created_at)
      SELECT project, scope, key, decode(fingerprint, 'hex'), id, id, moment
        FROM (SELECT e.*, CASE e.surface WHEN 'chat' THEN 'chat' ELSE e.sandbox END AS scope
                FROM unnest(e_id, e_project, e_sandbox, e_surface, e_idempotency_key, e_fingerprint)
                     AS e (id, project, sandbox, surface, key, fingerprint)
               WHERE e.key IS NOT NULL) k
       ORDER BY project, scope, key
      ON CONFLICT DO NOTHING RETURNING invocation
    ) SELECT array_agg(invocation) INTO fresh FROM taken;
  END IF;
  WITH begun AS (
    INSERT INTO money.executions (
      id,
      project,
      sandbox,
      revision,
      digest,
      key,
      lineage,
      person,
      surface,
      max_micro,
      status,
      seq,
      traceparent,
      tracestate,
      created_at,
      deadline_at
    )
    SELECT
      e.id,
      e.project,
      e.sandbox,
      e.revision,
      e.digest,
      e.key,
      e.lineage,
      e.person,
      e.surface,
      e.max_micro,
      'Admitted',
      1,
      e.traceparent,
      e.tracestate,
      moment,
      moment + e.first_claim_ms * interval '1 millisecond'
      FROM unnest(e_id, e_project, e_sandbox, e_revision, e_digest, e_key, e_lineage, e_person, e_surface,
                  e_traceparent, e_tracestate, e_idempotency_key, e_first_claim_ms, e_max_micro)
           AS e (id, project, sandbox, revision, digest, key, lineage, person, surface,
                  traceparent, tracestate, idempotency_key, first_claim_ms, max_micro)
     WHERE e.idempotency_key IS NULL OR e.id = ANY (fresh)
     ORDER BY e.id
    ON CONFLICT (id) DO NOTHING RETURNING id
  ) SELECT array_agg(array_position(e_id, b.id)) INTO started FROM begun b;
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
    completed_at
  )
  SELECT
    e_id[n.e],
    n.ordinal,
    n.node,
    n.kind,
    e_project[n.e],
    n.sources::integer[],
    n.state,
    n.seq,
    n.ports,
    nullif(n.output, ''),
    CASE WHEN n.seq IS NOT NULL THEN 0 END,
    CASE WHEN n.state IN ('Succeeded', 'Skipped') THEN moment END
    FROM unnest(n_execution, n_ordinal, n_node, n_kind, n_sources, n_state, n_seq, n_ports, n_output)
         AS n (e, ordinal, node, kind, sources, state, seq, ports, output)
   WHERE n.e = ANY (started);
  jobs := money.enqueue_ready_nodes(
    ARRAY(SELECT DISTINCT e_project[s] FROM unnest(started) s), nodes_at_once, moment)::text;
END $$;
