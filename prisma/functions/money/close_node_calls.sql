-- Closings of nodes of executions, for anyone who ends their leases (B9 of run_batch): in a transaction that has locked
-- their wallets (`locked`, before anything else) and has taken `moment` from the clock since. `settle` charges, once a
-- node; `release` of an id that was never admitted is 'unknown', and nothing is to be done about it. Answers like
-- money.close_batch, as json in the order of the items: `outcome` (settled, released, fenced, unknown; 'deferred':
-- its wallet is not locked), `charged` and `excess` in micro-USD. No answer of a node is kept apart from it.
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
  RETURN money.close_batch(of_executions => true, locked => locked, moment => moment, answer_day => NULL, items => items);
END $$;
