-- A row type: a node of an execution that starts. Sent like money.admission.
CREATE OR REPLACE VIEW money.node_start AS
SELECT NULL::text AS execution,
       NULL::integer AS ordinal,
       NULL::text AS node,
       NULL::text AS kind,
       NULL::integer[] AS sources, -- ordinals
       NULL::text AS state,
       NULL::integer AS seq,
       NULL::text AS ports, -- JSON text, like output
       NULL::text AS output,
       NULL::integer AS earlier, -- ordinal of the node of rerun_of whose result it reuses; null: none
       NULL::boolean AS taken_over
 WHERE false;
