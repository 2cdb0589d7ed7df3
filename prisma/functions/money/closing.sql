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
       NULL::text AS reason, -- of a release
       NULL::integer AS first_token_ms, -- of a streamed response, from the admission
       NULL::text AS tries, -- at providers: JSON text
       NULL::bigint AS cost_pico -- of the provider, for a settlement; null: unknown
 WHERE false;
