-- Writes notices for wallets whose runway, at the pace of the last seven days, is below a threshold of their users
-- (money §10.1). A notice is written when the runway falls below the threshold, and again only after it has recovered.
-- A project without usage never falls below. Any replica may run this at any time: the one that changes `notified`
-- writes the notice. Returns the number of notices written.
CREATE OR REPLACE FUNCTION money.notify_days_left(
  OUT notices integer
) LANGUAGE plpgsql
AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
BEGIN
  WITH paced AS MATERIALIZED (
    SELECT t.project, t.days, w.funded - w.settled AS remaining,
           coalesce((SELECT sum(u.micro) FROM money.usage_hours u
                      WHERE u.project = t.project AND u.dimension = 'all' AND u.hour > moment - interval '7 days'), 0) AS week
      FROM money.days_left_thresholds t JOIN money.wallets w ON w.project = t.project
  ), changed AS (
    UPDATE money.days_left_thresholds t SET notified = p.remaining * 7 < p.days * p.week
      FROM paced p
     WHERE t.project = p.project AND t.days = p.days AND t.notified <> (p.remaining * 7 < p.days * p.week)
    RETURNING t.project, t.days, t.notified, p.remaining
  ), notified AS (
    INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
    SELECT 'ntc_' || left(encode(sha256(convert_to(concat_ws(' ', project, 'days', moment), 'UTF8')), 'hex'), 26),
           project, 'wallet.days_left', days, remaining, moment
      FROM changed WHERE notified
    RETURNING id, project
  ), sent AS (
    INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
    SELECT n.id, w.id, moment FROM notified n JOIN money.webhooks w ON w.project = n.project
  )
  SELECT count(*) INTO notices FROM notified;
END $$;
