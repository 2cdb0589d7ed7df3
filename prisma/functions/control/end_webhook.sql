-- Deletes a webhook of a project with its deliveries, in the transaction that writes the audit row. Returns whether
-- there was one.
--
-- Runs with the permissions of its owner: the console's login writes nothing in `money`.
CREATE OR REPLACE FUNCTION control.end_webhook(
  of_project text,
  webhook_id text
) RETURNS boolean LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  -- The deliveries first: recording one locks it before its webhook. They are found by the notices of the project,
  -- because no index starts with the webhook.
  DELETE FROM money.webhook_deliveries d
   USING money.webhooks w
   WHERE w.id = webhook_id AND w.project = of_project AND d.webhook = w.id
     AND d.notice IN (SELECT n.id FROM money.notices n WHERE n.project = of_project);
  DELETE FROM money.webhooks w WHERE w.id = webhook_id AND w.project = of_project;
  RETURN FOUND;
END $$;
