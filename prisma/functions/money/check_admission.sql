-- Returns whether a direct call would be admitted now, decided by money.admit itself, so that the two can't disagree.
-- Writes nothing and takes no lock: the transaction must be READ ONLY, and REPEATABLE READ, so that both calls see the
-- same data.
--
--   C1  First without an instance: everything before funds is decided, and the bound is returned.
--   C2  Then for a live instance. A refusal for lack of funds is returned. An admission reaches the first statement
--       that writes, and Postgres refuses that.
--
-- `item` must be of pair 1 and have no instance. Returns what money.admit returns for this call; if it would be
-- admitted, the code is `admitted`. While no instance is alive, no call is possible and the code stays `would_admit`.
-- needs: money.admission, money.admission_pair, money.budgets_of
CREATE OR REPLACE FUNCTION money.check_admission(
  caller money.admission_pair,
  item money.admission,
  OUT decision text
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' -- B8 of run_batch
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
  locked text[] := ARRAY(SELECT k.project FROM control.keys k
                          WHERE k.hash = decode(caller.key_hash, 'hex') AND k.project IS NOT NULL)
                   || money.budgets_of(ARRAY[caller]);
BEGIN
  IF NOT current_setting('transaction_read_only')::boolean THEN
    RAISE 'a check of an admission needs a transaction that is READ ONLY';
  END IF;
  FOR round IN 1 .. 2 LOOP
    decision := money.admit(locked => locked, moment => moment, callers => ARRAY[caller], items => ARRAY[item]);
    EXIT WHEN decision::jsonb -> 'code' ->> 0 IS DISTINCT FROM 'would_admit'; -- C1
    item.instance := (SELECT h.id FROM money.instances h WHERE h.ended_at IS NULL LIMIT 1); -- C2
  END LOOP;
EXCEPTION WHEN read_only_sql_transaction THEN -- `decision` is still the one of C1
  decision := jsonb_set(decision::jsonb, '{code}', '["admitted"]');
END $$;
