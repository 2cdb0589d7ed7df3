-- A row type: what was decided of one execution. Sent like money.admission.
CREATE OR REPLACE VIEW money.execution_change AS
SELECT NULL::text AS id,
       NULL::text AS project,
       NULL::integer AS version, -- as it was read (F1 of write_executions)
       NULL::integer AS next_version,
       NULL::text AS status,
       NULL::integer AS seq,
       NULL::text AS error, -- JSON text, like output; null: as it was
       NULL::text AS output,
       NULL::boolean AS started,
       NULL::integer AS deadline_in_ms, -- from now; null: as it was
       NULL::boolean AS enqueues -- nodes of it wait for a place in the queue, or it has left places to others
 WHERE false;
