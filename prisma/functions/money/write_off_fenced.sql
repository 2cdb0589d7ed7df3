-- What calls of nodes have used whose answers came under a lease that was another's by then. It is a write-off under
-- the reservation of that attempt, at the price of its admission (B5 of run_batch), and once only. The lists are
-- parallel. Nothing is locked: the attempt under the reservation ended with its lease (B9 of run_batch), and never
-- changes. What is not an attempt of this execution that ended without a charge is left out. Answers how many are new.
CREATE OR REPLACE FUNCTION money.write_off_fenced(
  w_reservation text[],
  w_execution text[],
  w_usage jsonb,
  OUT written integer
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' -- as in run_batch
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_mergejoin = off
AS $$
DECLARE
  oldest_id text := (SELECT min(i) FROM unnest(w_reservation) i); -- B10 of run_batch
  newest_id text := (SELECT max(i) FROM unnest(w_reservation) i);
BEGIN
  INSERT INTO money.write_offs (reservation, kind, micro, product, at)
  SELECT v.id,
         'fenced',
         money.charge_micro(
           w.prompt_tokens, v.prompt_pico, w.cached_tokens, v.cached_pico,
           w.completion_tokens, v.completion_pico, w.reasoning_tokens, v.reasoning_pico, v.request_pico),
         v.product,
         clock_timestamp()
    FROM ROWS FROM (
      unnest(w_reservation, w_execution),
      jsonb_to_recordset(w_usage) AS (
        "promptTokens" integer, "completionTokens" integer, "cachedTokens" integer, "reasoningTokens" integer)
    ) AS w (reservation, execution, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens)
    CROSS JOIN LATERAL (
      SELECT * FROM money.attempts a
       WHERE a.id = w.reservation AND a.id BETWEEN oldest_id AND newest_id LIMIT 1) v
   WHERE v.execution = w.execution AND v.state = 'Released'
   ORDER BY v.id -- in one order everywhere, so that no two of these wait for each other
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
END $$;
