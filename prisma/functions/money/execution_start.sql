-- A row type: an execution that starts. Sent like money.admission.
CREATE OR REPLACE VIEW money.execution_start AS
SELECT NULL::text AS id,
       NULL::text AS project,
       NULL::text AS sandbox,
       NULL::integer AS revision,
       NULL::text AS digest, -- of its package
       NULL::text AS key, -- that starts it; null: a user starts it
       NULL::text AS lineage,
       NULL::text AS user_id,
       NULL::text AS surface,
       NULL::bigint AS max_micro, -- its ceiling; null: none
       NULL::text AS traceparent,
       NULL::text AS tracestate,
       NULL::text AS scope, -- of its idempotency key within the project
       NULL::text AS idempotency_key,
       NULL::text AS fingerprint, -- hex
       NULL::integer AS first_claim_ms, -- maximum wait for the first claim of a node
       NULL::text AS rerun_of, -- the execution whose results it reuses; null: none
       NULL::text AS status, -- Admitted, or Succeeded if nothing is left to run
       NULL::integer AS seq,
       NULL::integer AS output, -- ordinal of the node of rerun_of whose result is its output; null: it has no output yet
       NULL::text AS tag -- of its calls; null: none
 WHERE false;
