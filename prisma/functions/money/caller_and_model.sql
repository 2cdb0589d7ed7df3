-- A row type: what one key or execution may do with one model now, what that costs, and what its window and wallet
-- hold. Read once for all items of a batch that are alike in it. It is a view without rows, because a view can get one
-- more column at its end together with the functions that fill it, and a type can't.
CREATE OR REPLACE VIEW money.caller_and_model AS
SELECT NULL::integer AS context_length,
       NULL::integer AS max_output_tokens,
       NULL::integer AS max_tokens_per_image,
       NULL::integer AS tokens_per_byte_millionths,
       NULL::integer AS per_message,
       NULL::integer AS per_tool,
       NULL::integer AS fixed_with_tools,
       NULL::bigint AS prompt_pico,
       NULL::bigint AS completion_pico,
       NULL::bigint AS request_pico,
       NULL::bigint AS limit_micro,
       NULL::timestamptz AS window_start,
       NULL::bigint AS meter_spent,
       NULL::bigint AS meter_reserved,
       NULL::bigint AS wallet_total, -- reserved or free
       NULL::bigint AS wallet_free,
       NULL::bigint AS journal_seq,
       NULL::text AS key_code, -- that refuses the caller
       NULL::text AS model_code, -- that refuses the model
       NULL::text AS project,
       NULL::text AS key,
       NULL::text AS lineage,
       NULL::text AS model,
       NULL::text AS limit_reset,
       NULL::text AS rotated_to,
       NULL::timestamptz AS expires_at,
       NULL::text AS tokenizer,
       NULL::text[] AS supported,
       NULL::bytea AS seal,
       NULL::text AS execution, -- null: a direct call
       NULL::boolean AS goes_on, -- the nodes of this execution may still call
       NULL::integer AS factor_millionths,
       NULL::bigint AS cached_pico, -- null: like the rest of the prompt
       NULL::bigint AS reasoning_pico, -- null: like the rest of the completion
       NULL::bigint AS max_micro, -- the ceiling of this execution; null: it has none
       NULL::bigint AS ceiling_charged, -- of it, what nodes were charged
       NULL::bigint AS ceiling_reserved -- and what is reserved for nodes now
 WHERE false;
