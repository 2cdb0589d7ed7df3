-- A row type: one closing of a batch. Sent like money.admission.
CREATE OR REPLACE VIEW money.closing AS
SELECT NULL::text AS id, -- of the reservation
       NULL::text AS op, -- settle, release, or expire: release if the instance has ended or is late
       NULL::text AS execution, -- of a node; null: a direct call
       NULL::integer AS prompt_tokens, -- usage of a settlement
       NULL::integer AS completion_tokens,
       NULL::integer AS cached_tokens,
       NULL::integer AS reasoning_tokens,
       NULL::integer AS cache_write_tokens,
       NULL::boolean AS estimated,
       NULL::text AS content_type, -- of a response to be saved; null: none
       NULL::text AS reason -- of a release
 WHERE false;
