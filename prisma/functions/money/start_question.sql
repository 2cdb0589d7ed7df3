-- A row type: a question whether an execution may start. Sent like money.admission.
CREATE OR REPLACE VIEW money.start_question AS
SELECT NULL::text AS id, -- of the execution
       NULL::text AS key_hash, -- of the asking key, hex
       NULL::text AS project, -- of the asking user
       NULL::text AS sandbox,
       NULL::integer AS revision, -- null: the active one
       NULL::text AS scope, -- of its idempotency key within the project
       NULL::text AS idempotency_key
 WHERE false;
