-- Returns the ids of the budgets that calls of these callers count towards now, read without a lock.
-- needs: money.admission_pair, money.callers, money.execution_callers, money.budget_targets
CREATE OR REPLACE FUNCTION money.budgets_of(
  callers money.admission_pair[]
) RETURNS text[] LANGUAGE plpgsql STABLE
AS $$
DECLARE
  oldest_execution text; -- B10 of run_batch
  newest_execution text;
  targets text[];
BEGIN
  SELECT min(i.execution), max(i.execution) INTO oldest_execution, newest_execution FROM unnest(callers) i;
  SELECT array_agg(DISTINCT t) INTO targets
    FROM (SELECT i.key_hash, i.execution AS execution_id, i.tag AS own_tag FROM unnest(callers) i OFFSET 0) i
    LEFT JOIN LATERAL (
      SELECT c.tenant, c.created_by, c.team, c.tag FROM money.callers c
       WHERE c.hash = decode(i.key_hash, 'hex') LIMIT 1) k ON true
    LEFT JOIN LATERAL (
      SELECT c.tenant, c.user_id, c.team, c.tag FROM money.execution_callers c
       WHERE c.execution = i.execution_id
         AND c.execution BETWEEN oldest_execution AND newest_execution LIMIT 1) e ON true,
         unnest(money.budget_targets(
           coalesce(k.tenant, e.tenant),
           coalesce(k.created_by, e.user_id),
           coalesce(k.team, e.team),
           coalesce(k.tag, i.own_tag, e.tag))) t
   WHERE t IS NOT NULL;
  RETURN ARRAY(SELECT b.id FROM money.budgets b WHERE b.target = ANY (targets));
END $$;
