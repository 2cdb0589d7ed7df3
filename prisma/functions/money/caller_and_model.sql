-- A row type: what one key or execution may do with one model now, its price, and the state of its window and wallet.
-- Read once for all items of a batch that share it, and built by make_caller_and_model.
CREATE OR REPLACE VIEW money.caller_and_model AS
SELECT NULL::text AS project,
       NULL::text AS key,
       NULL::text AS lineage,
       NULL::text AS model,
       NULL::text AS rotated_to,
       NULL::timestamptz AS expires_at,
       NULL::text AS key_code, -- the refusal of the caller
       NULL::text AS model_code, -- the refusal of the model
       NULL::text AS execution, -- null: a direct call
       NULL::boolean AS goes_on, -- whether nodes of this execution may still call
       NULL::bigint AS max_micro, -- the ceiling of this execution; null: none
       NULL::bigint AS ceiling_charged, -- total charged to its nodes
       NULL::bigint AS ceiling_reserved, -- total reserved for its nodes now
       NULL::bigint AS limit_micro,
       NULL::text AS limit_reset,
       NULL::timestamptz AS window_start,
       NULL::bigint AS meter_spent,
       NULL::bigint AS meter_reserved,
       NULL::bigint AS wallet_total, -- reserved plus free
       NULL::bigint AS wallet_free,
       NULL::bigint AS journal_seq,
       NULL::bytea AS seal,
       NULL::integer AS context_length,
       NULL::integer AS max_output_tokens,
       NULL::text[] AS supported_parameters,
       NULL::text AS tokenizer,
       NULL::integer AS tokens_per_byte_millionths,
       NULL::integer AS per_message,
       NULL::integer AS per_tool,
       NULL::integer AS fixed_with_tools,
       NULL::integer AS max_tokens_per_image,
       NULL::integer AS factor_millionths,
       NULL::bigint AS prompt_pico,
       NULL::bigint AS completion_pico,
       NULL::bigint AS request_pico,
       NULL::bigint AS cached_pico, -- null: like the rest of the prompt
       NULL::bigint AS reasoning_pico, -- null: like the rest of the completion
       NULL::bigint AS cache_write_pico, -- null: like the rest of the prompt
       NULL::text AS kind, -- of the product; null: a call of a node
       NULL::boolean AS takes_files,
       NULL::text AS tag, -- of the key or the execution, or named by the call
       NULL::text[] AS budgets, -- that the call counts towards, in the order of their ids; null: none
       NULL::timestamptz[] AS budget_windows, -- the current window of each of them
       NULL::bigint[] AS budgets_left -- what each of them leaves; null: it does not bind
 WHERE false;
