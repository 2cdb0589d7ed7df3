-- Writes notices of threshold crossings (money §10.1), in the transaction that caused them, under the wallet's lock.
--   N1  A wallet crosses a threshold when `remaining` falls from at or above the threshold to below it. It falls only
--       by charges, so `remaining + charged` is the previous value. Rising again sends no notice and rearms the
--       threshold.
--   N2  A window crosses a percentage when `spent` reaches it. `spent` only rises until the window ends, so this
--       happens once per window.
--   N3  So each crossing has exactly one notice, regardless of repeats. The id of a notice is derived from the
--       crossing.
--   N4  The deliveries of a notice are written with it, one for each webhook that the project has at that time.
-- Both are lists of json objects, or null: `of_wallets` { project, journal_seq, remaining, charged, below },
-- `of_windows` { lineage, project, window_start, limit_micro, spent, charged, key, percents }.
CREATE OR REPLACE FUNCTION money.notify_threshold_crossings(
  moment timestamptz,
  of_wallets jsonb,
  of_windows jsonb
) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
  WITH notified AS (
    INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
    SELECT 'ntc_' || left(encode(sha256(convert_to(concat_ws(' ', w.project, w.journal_seq, t), 'UTF8')), 'hex'), 26),
           w.project, 'wallet.below', t, w.remaining, moment
      FROM jsonb_to_recordset(of_wallets) AS w (
        project text, journal_seq bigint, remaining bigint, charged bigint, below bigint[])
     CROSS JOIN unnest(w.below) t
     WHERE w.remaining < t AND t <= w.remaining + w.charged -- N1
    RETURNING id, project
  )
  INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
  SELECT n.id, w.id, moment FROM notified n JOIN money.webhooks w ON w.project = n.project;

  WITH notified AS (
    INSERT INTO money.notices (
      id, project, kind, threshold, key, lineage, window_start, limit_micro, spent_micro, at)
    SELECT 'ntc_' || left(encode(sha256(convert_to(
             concat_ws(' ', w.lineage, extract(epoch FROM w.window_start), t), 'UTF8')), 'hex'), 26),
           w.project, 'key.percent', t, w.key, w.lineage, w.window_start, w.limit_micro, w.spent, moment
      FROM jsonb_to_recordset(of_windows) AS w (
        lineage text, project text, window_start timestamptz, limit_micro bigint, spent bigint, charged bigint, key text,
        percents integer[])
     CROSS JOIN unnest(w.percents) t
     WHERE (w.spent - w.charged) * 100 < t * w.limit_micro AND t * w.limit_micro <= w.spent * 100 -- N2
    RETURNING id, project
  )
  INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
  SELECT n.id, w.id, moment FROM notified n JOIN money.webhooks w ON w.project = n.project;
END $$;
