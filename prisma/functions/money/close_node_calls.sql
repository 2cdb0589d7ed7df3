-- Closes reservations of nodes when their leases end (B9 of run_batch). The caller's transaction must have locked their
-- wallets (`locked`) before anything else and have read `moment` from the clock after that; the budgets are locked here
-- (B12 of run_batch). `settle` charges, once per
-- node; `release` of an id that was never admitted is 'unknown' and needs no action. Returns, like money.close_batch,
-- json lists in the order of the items: `outcome` (settled, released, fenced, unknown; 'deferred': its wallet is not
-- locked), `charged` and `excess` in micro-USD. Responses of nodes are not saved separately.
-- needs: money.closing
CREATE OR REPLACE FUNCTION money.close_node_calls(
  locked text[],
  moment timestamptz,
  items money.closing[]
) RETURNS json LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' -- as in run_batch
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
BEGIN
  locked := locked || ARRAY(
    SELECT b.id FROM money.budgets b
     WHERE b.id = ANY (ARRAY(
       SELECT unnest(r.budgets) FROM money.reservations r WHERE r.id = ANY (ARRAY(SELECT i.id FROM unnest(items) i))))
     ORDER BY b.id FOR UPDATE);
  RETURN money.close_batch(of_executions => true, locked => locked, moment => moment, answer_day => NULL, items => items);
END $$;
