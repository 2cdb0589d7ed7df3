-- What calls of nodes have used whose answers came under a lease that was another's by then. It is a write-off under
-- the reservation of that attempt, at the price of its admission (B5 of run_batch), and once only. Nothing is locked: the attempt under the reservation ended with its lease (B9 of run_batch), and never
-- changes. What is not an attempt of this execution that ended without a charge is left out. Answers how many are new.
-- needs: money.closing
CREATE OR REPLACE FUNCTION money.write_off_fenced(
  answers money.closing[],
  OUT written integer
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' -- as in run_batch
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_mergejoin = off
AS $$
DECLARE
  oldest_id text := (SELECT min(a.id) FROM unnest(answers) a); -- B10 of run_batch
  newest_id text := (SELECT max(a.id) FROM unnest(answers) a);
BEGIN
  INSERT INTO money.write_offs (reservation, kind, micro, product, at)
  SELECT v.id,
         'fenced',
         money.charge_micro(
           w.prompt_tokens, v.prompt_pico, w.cached_tokens, v.cached_pico,
           w.completion_tokens, v.completion_pico, w.reasoning_tokens, v.reasoning_pico, v.request_pico),
         v.product,
         clock_timestamp()
    FROM unnest(answers) w
    CROSS JOIN LATERAL (
      SELECT * FROM money.attempts a
       WHERE a.id = w.id AND a.id BETWEEN oldest_id AND newest_id LIMIT 1) v
   WHERE v.execution = w.execution AND v.state = 'Released'
   ORDER BY v.id -- in one order everywhere, so that no two of these wait for each other
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
END $$;
