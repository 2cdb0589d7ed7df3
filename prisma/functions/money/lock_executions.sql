-- Locks executions, and before that the wallets of their projects, for a caller whose writes have repeatedly failed
-- because the executions changed meanwhile. Returns the number of executions.
CREATE OR REPLACE FUNCTION money.lock_executions(
  ids text[],
  OUT locked integer
) LANGUAGE plpgsql
  SET lock_timeout = '250ms'
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
AS $$
DECLARE
  wanted text[];
  oldest_id text := (SELECT min(i) FROM unnest(ids) i); -- B10 of run_batch
  newest_id text := (SELECT max(i) FROM unnest(ids) i);
BEGIN
  SELECT array_agg(DISTINCT e.project) INTO wanted FROM money.executions e -- never changes
   WHERE e.id = ANY (ids) AND e.id BETWEEN oldest_id AND newest_id;
  PERFORM FROM money.wallets w WHERE w.project = ANY (wanted) ORDER BY w.project FOR UPDATE;
  PERFORM FROM money.executions e
    WHERE e.id = ANY (ids) AND e.id BETWEEN oldest_id AND newest_id ORDER BY e.id FOR UPDATE;
  GET DIAGNOSTICS locked = ROW_COUNT;
END $$;
