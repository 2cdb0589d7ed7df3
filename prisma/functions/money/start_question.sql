-- A row type: what is asked about an execution that may start. Sent like money.admission.
CREATE OR REPLACE VIEW money.start_question AS
SELECT NULL::text AS id, -- of the execution
       NULL::text AS key_hash, -- of a key that asks, hex
       NULL::text AS project, -- of a user who asks
       NULL::text AS sandbox,
       NULL::integer AS revision, -- null: the active one
       NULL::text AS scope, -- within which, alongside the project, its idempotency key names one thing
       NULL::text AS idempotency_key
 WHERE false;
