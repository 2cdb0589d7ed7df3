-- A row type: a caller and a model that items of a batch share. Sent like money.admission.
CREATE OR REPLACE VIEW money.admission_pair AS
SELECT NULL::text AS key_hash, -- of direct calls, hex
       NULL::text AS execution, -- of nodes
       NULL::text AS model,
       NULL::text AS tag -- that a direct call names; null: none
 WHERE false;
