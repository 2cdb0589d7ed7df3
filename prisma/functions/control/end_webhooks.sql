-- Deletes webhooks with what waits for them, in the transaction that removes the member who made them. Returns their ids
-- and projects, one for one. Those by mail stay: a mail reaches only users with a role on the project.
--
-- Runs with the permissions of its owner: the console's login writes nothing in `money`.
CREATE OR REPLACE FUNCTION control.end_webhooks(
  of_tenant text,
  of_maker text,
  OUT ids text[],
  OUT projects text[]
) LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  theirs text[];
BEGIN
  -- The deliveries first, as in end_webhook: recording one locks it before its webhook.
  WITH matching AS (
    SELECT w.id, w.project
      FROM money.webhooks w
      JOIN control.projects p ON p.id = w.project
     WHERE p.tenant = of_tenant AND w.created_by = of_maker AND w.kind <> 'email'
  ), undelivered AS ( -- found by the notices of the projects, because no index starts with the webhook
    DELETE FROM money.webhook_deliveries d
     USING matching m
      JOIN money.notices n ON n.project = m.project
     WHERE d.notice = n.id AND d.webhook = m.id
  )
  SELECT array_agg(m.id) INTO theirs FROM matching m;

  WITH ended AS (
    DELETE FROM money.webhooks w WHERE w.id = ANY (theirs) RETURNING w.id, w.project
  )
  SELECT coalesce(array_agg(e.id ORDER BY e.id), '{}'), coalesce(array_agg(e.project ORDER BY e.id), '{}')
    INTO ids, projects
    FROM ended e;
END $$;
