-- A row type: a changed node, with all its new values. Sent like money.admission.
CREATE OR REPLACE VIEW money.node_change AS
SELECT NULL::text AS execution,
       NULL::integer AS ordinal,
       NULL::text AS state,
       NULL::integer AS attempt,
       NULL::integer AS deaths,
       NULL::integer AS seq,
       NULL::text AS ports, -- JSON text, like output and error
       NULL::text AS output,
       NULL::text AS error,
       NULL::text AS instance,
       NULL::text AS lease,
       NULL::text AS call,
       NULL::text AS reservation,
       NULL::integer AS duration_ms,
       NULL::integer AS remote_ms
 WHERE false;
