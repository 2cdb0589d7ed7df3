-- A row type: the decided changes of one execution. Sent like money.admission.
CREATE OR REPLACE VIEW money.execution_change AS
SELECT NULL::text AS id,
       NULL::text AS project,
       NULL::integer AS version, -- as it was read (F1 of write_executions)
       NULL::integer AS next_version,
       NULL::text AS status,
       NULL::integer AS seq,
       NULL::text AS error, -- JSON text, like output; null: unchanged
       NULL::text AS output,
       NULL::boolean AS started,
       NULL::integer AS deadline_in_ms, -- from now; null: unchanged
       NULL::boolean AS enqueues -- its nodes wait for a place in the queue, or it has freed places for others
 WHERE false;
