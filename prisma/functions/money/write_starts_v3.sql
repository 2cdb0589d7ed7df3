-- As write_starts_v4, of executions without a ceiling.
-- needs: money.write_starts_v4
CREATE OR REPLACE FUNCTION money.write_starts_v3(
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
AS $$
BEGIN
  SELECT s.started, s.jobs INTO started, jobs
    FROM money.write_starts_v4(
      nodes_at_once => nodes_at_once,
      e_id => e_id,
      e_project => e_project,
      e_sandbox => e_sandbox,
      e_revision => e_revision,
      e_digest => e_digest,
      e_key => e_key,
      e_lineage => e_lineage,
      e_person => e_person,
      e_surface => e_surface,
      e_traceparent => e_traceparent,
      e_tracestate => e_tracestate,
      e_idempotency_key => e_idempotency_key,
      e_fingerprint => e_fingerprint,
      e_first_claim_ms => e_first_claim_ms,
      e_max_micro => array_fill(NULL::bigint, ARRAY[cardinality(e_id)]),
      n_execution => n_execution,
      n_ordinal => n_ordinal,
      n_node => n_node,
      n_kind => n_kind,
      n_sources => n_sources,
      n_state => n_state,
      n_seq => n_seq,
      n_ports => n_ports,
      n_output => n_output) s;
END $$;
