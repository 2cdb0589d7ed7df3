-- Returns what a call may count towards: the budgets of the user, team and tag that it has (money §6.4). An element is
-- null for what it does not have.
CREATE OR REPLACE FUNCTION money.budget_targets(
  tenant text,
  user_id text,
  team text,
  tag text
) RETURNS text[] LANGUAGE sql IMMUTABLE
AS $$
  SELECT ARRAY[tenant || ' user ' || user_id, tenant || ' team ' || team, tenant || ' tag ' || tag]
$$;
