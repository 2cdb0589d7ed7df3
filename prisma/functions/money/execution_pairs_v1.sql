-- What executions may do with models: the pairs of an execution and a model, in the order given. An execution goes by
-- the lineage of its key, or by the person who started it in the console (money.execution_callers). It calls products
-- of any kind; the context of one that makes images or sounds at a price per request bounds nothing.
-- needs: money.caller_and_model
CREATE OR REPLACE FUNCTION money.execution_pairs_v1(
  locked text[],
  moment timestamptz,
  e_execution text[],
  e_model text[]
) RETURNS money.caller_and_model[] LANGUAGE plpgsql
AS $$
DECLARE
  pairs money.caller_and_model[];
  oldest_execution text := e_execution[1]; -- B10 of run_batch_v1
  newest_execution text := e_execution[1];
BEGIN
  IF cardinality(e_execution) > 1 THEN
    SELECT min(e), max(e) INTO oldest_execution, newest_execution FROM unnest(e_execution) e;
  END IF;
  SELECT array_agg(ROW (
           CASE WHEN m.unbounded THEN 2147483647 ELSE m.context_length END,
           CASE WHEN m.unbounded THEN 2147483647 ELSE m.max_output_tokens END,
           m.max_tokens_per_image,
           m.tokens_per_byte_millionths,
           m.per_message,
           m.per_tool,
           m.fixed_with_tools,
           m.prompt_pico,
           m.completion_pico,
           m.request_pico,
           i.limit_micro,
           greatest(t.window_start, i.window_start),
           CASE WHEN t.window_start >= i.window_start THEN t.spent ELSE 0 END,
           CASE WHEN t.window_start >= i.window_start THEN t.reserved ELSE 0 END,
           w.funded - w.settled,
           w.funded - w.settled - w.reserved,
           w.journal_seq,
           CASE WHEN i.refusal IS NOT NULL THEN i.refusal WHEN NOT i.project = ANY (locked) THEN 'deferred' END,
           CASE WHEN m.id IS NULL THEN 'product_not_assigned'
                WHEN i.policy = 'listed' AND kr.key IS NULL THEN 'key_scope' END,
           i.project,
           i.key,
           i.lineage,
           i.model,
           i.limit_reset,
           NULL, -- rotated_to
           NULL, -- expires_at
           m.tokenizer,
           m.supported_parameters,
           w.seal,
           i.execution,
           i.goes_on,
           m.factor_millionths,
           m.cached_pico,
           m.reasoning_pico
         )::money.caller_and_model ORDER BY i.n)
    INTO pairs
    FROM (SELECT r.n, r.model, c.*, money.window_start_v1(c.limit_reset, moment) AS window_start
            FROM unnest(e_execution, e_model) WITH ORDINALITY AS r (execution_id, model, n)
            LEFT JOIN LATERAL (
              SELECT * FROM money.execution_callers c
               WHERE c.execution = r.execution_id
                 AND c.execution BETWEEN oldest_execution AND newest_execution LIMIT 1) c ON true) i
    LEFT JOIN LATERAL (SELECT * FROM money.wallets w WHERE w.project = i.project LIMIT 1) w ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.meters t WHERE t.lineage = i.lineage AND i.limit_micro IS NOT NULL LIMIT 1) t ON true
    LEFT JOIN LATERAL (
      SELECT p.*, p.kind <> 'chat' AND p.unit = 'request' AS unbounded
        FROM control.products p
       WHERE p.id = i.model AND p.state = 'published'
         AND (SELECT a.product FROM control.assignments a
               WHERE a.project = i.project AND a.product = p.id) IS NOT NULL
       LIMIT 1) m ON true
    LEFT JOIN LATERAL (
      SELECT * FROM control.key_resources r
       WHERE r.key = i.key AND r.resource = i.model AND i.policy = 'listed' LIMIT 1) kr ON true;
  RETURN pairs;
END $$;
