-- Begins an execution that takes over results of an earlier one (flows §4.12), if its idempotency key and its id are free.
-- n_ are all its nodes; one with n_earlier has the result that the node of this ordinal has in the earlier execution,
-- which has ended and so changes no more. The results are copied here, as they are stored.
--
-- `e_output`: the node of the earlier execution whose result is the output already; null: it is still to come.
-- `e_status` is Admitted, or Succeeded where nothing is left to run.
--
-- Answers whether it was begun, and what was enqueued.
CREATE OR REPLACE FUNCTION money.write_rerun(
  nodes_at_once integer,
  e_id text,
  e_earlier text,
  e_project text,
  e_sandbox text,
  e_revision integer,
  e_digest text, -- of the package that it runs
  e_person text,
  e_max_micro bigint, -- its ceiling; null: none
  e_status text,
  e_seq integer,
  e_output integer,
  e_traceparent text,
  e_tracestate text,
  e_scope text, -- of its idempotency key
  e_idempotency_key text,
  e_fingerprint text,
  e_first_claim_ms integer,
  n_ordinal integer[],
  n_node text[],
  n_kind text[],
  n_sources text[], -- each a list of ordinals, written as Postgres writes an array
  n_state text[],
  n_seq integer[],
  n_earlier integer[],
  n_taken_over boolean[],
  OUT started boolean,
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
BEGIN
  started := false;
  IF e_idempotency_key IS NOT NULL THEN
    INSERT INTO money.idempotency_keys (project, scope, key, fingerprint, invocation, reservation, created_at)
    VALUES (e_project, e_scope, e_idempotency_key, decode(e_fingerprint, 'hex'), e_id, e_id, moment)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN;
    END IF;
  END IF;
  INSERT INTO money.executions (
    id,
    project,
    sandbox,
    revision,
    digest,
    person,
    max_micro,
    surface,
    status,
    seq,
    output,
    traceparent,
    tracestate,
    created_at,
    deadline_at,
    completed_at,
    rerun_of
  )
  VALUES (
    e_id,
    e_project,
    e_sandbox,
    e_revision,
    e_digest,
    e_person,
    e_max_micro,
    'invoke',
    e_status,
    e_seq,
    (SELECT o.output FROM money.execution_nodes o WHERE o.execution = e_earlier AND o.ordinal = e_output),
    e_traceparent,
    e_tracestate,
    moment,
    moment + e_first_claim_ms * interval '1 millisecond',
    CASE WHEN e_status = 'Succeeded' THEN moment END,
    e_earlier
  )
  ON CONFLICT (id) DO NOTHING;
  IF NOT FOUND THEN
    IF e_idempotency_key IS NOT NULL THEN -- the key was free, so it is none of this id
      RAISE EXCEPTION 'the execution % was begun under another idempotency key', e_id;
    END IF;
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
    e_id,
    n.ordinal,
    n.node,
    n.kind,
    e_project,
    n.sources::integer[],
    n.state,
    n.seq,
    o.ports,
    o.output, -- null where the earlier execution was forgotten meanwhile: that is no result, and is refused here
    CASE WHEN n.seq IS NOT NULL THEN 0 END,
    CASE WHEN n.state IN ('Succeeded', 'Skipped') THEN moment END,
    n.taken_over
    FROM unnest(n_ordinal, n_node, n_kind, n_sources, n_state, n_seq, n_earlier, n_taken_over)
         AS n (ordinal, node, kind, sources, state, seq, earlier, taken_over)
    LEFT JOIN money.execution_nodes o
           ON o.execution = e_earlier AND o.project = e_project AND o.ordinal = n.earlier AND n.state = 'Succeeded';
  started := true;
  IF e_status = 'Admitted' THEN
    jobs := money.enqueue_ready_nodes(ARRAY[e_project], nodes_at_once, moment)::text;
  END IF;
END $$;
