-- Writes off the usage of node calls whose responses arrived under a lost lease: under the reservation of that attempt,
-- at the price of its admission (B5 of run_batch), and only once. Takes no lock: the attempt ended with its lease (B9
-- of run_batch) and never changes. Anything but an uncharged attempt of this execution is ignored. Returns the number
-- of new write-offs.
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
           w.prompt_tokens, v.prompt_pico, w.cached_tokens, v.cached_pico, w.cache_write_tokens, v.cache_write_pico,
           w.completion_tokens, v.completion_pico, w.reasoning_tokens, v.reasoning_pico, v.request_pico),
         v.product,
         clock_timestamp()
    FROM unnest(answers) w
    CROSS JOIN LATERAL (
      SELECT * FROM money.attempts a
       WHERE a.id = w.id AND a.id BETWEEN oldest_id AND newest_id LIMIT 1) v
   WHERE v.execution = w.execution AND v.state = 'Released'
   ORDER BY v.id -- a fixed order, so that concurrent calls never deadlock
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS written = ROW_COUNT;
END $$;
