-- Writes notices of budgets that have reached 80 or 100 percent (money §6.4), in the transaction that caused them, under
-- the lock of the budget. A budget has reached them by a charge, or by a limit that was lowered before it. A hard budget
-- of which 80 percent are spent has reached 100 percent once it refuses a call for good. The notice is one of the
-- project whose call it was.
-- Its id is that of the budget, window, limit and threshold, so each of them has exactly one notice. A settlement above a
-- threshold writes nothing if it exists: that costs one look-up by primary key.
-- `of_budgets` is a list of json objects { id, kind, subject, window_start, limit_micro, spent, project }, with `refuses`
-- if the budget refuses a call.
CREATE OR REPLACE FUNCTION money.notify_full_budgets(
  moment timestamptz,
  of_budgets jsonb
) RETURNS void LANGUAGE sql
AS $$
  WITH notified AS (
    INSERT INTO money.notices (id, project, kind, threshold, lineage, window_start, limit_micro, spent_micro, details, at)
    SELECT n.id, b.project, 'budget.percent', t, b.id, b.window_start, b.limit_micro, b.spent,
           jsonb_build_object('budget', b.id, 'budgetOf', b.kind, 'subject', b.subject), moment
      FROM jsonb_to_recordset(of_budgets) AS b (
        id text, kind text, subject text, window_start timestamptz, limit_micro bigint, spent bigint, refuses boolean,
        project text)
     CROSS JOIN unnest(ARRAY[80, 100]) t
     CROSS JOIN LATERAL (
       SELECT 'ntc_' || left(encode(sha256(convert_to(
                concat_ws(' ', b.id, extract(epoch FROM b.window_start), b.limit_micro, t), 'UTF8')), 'hex'), 26) AS id) n
     WHERE CASE WHEN b.refuses THEN t = 100 AND 80 * b.limit_micro <= b.spent * 100
                ELSE t * b.limit_micro <= b.spent * 100 END
       AND NOT EXISTS (SELECT FROM money.notices w WHERE w.id = n.id)
    ON CONFLICT DO NOTHING
    RETURNING id, project
  )
  INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
  SELECT n.id, w.id, moment FROM notified n JOIN money.webhooks w ON w.project = n.project
$$;
