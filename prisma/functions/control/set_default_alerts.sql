-- Sets the alert rules of a new project, in the transaction that creates it (money §10.3): a balance below $5.00, keys
-- at 80 and 100 percent of their limits, a runway below 7 days. `destination` is the id of a destination by mail to its
-- Project Owners.
--
-- Runs with the permissions of its owner: the console's login writes nothing in `money`.
CREATE OR REPLACE FUNCTION control.set_default_alerts(
  of_project text,
  by_user text,
  destination text -- or null
) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM money.set_notice_thresholds(of_project, '{5000000}', '{80,100}', 7);
  INSERT INTO money.webhooks (id, project, kind, created_by, created_at)
  SELECT destination, of_project, 'email', by_user, clock_timestamp() WHERE destination IS NOT NULL;
END $$;
