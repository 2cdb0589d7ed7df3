-- Adjusts a wallet after a wrong funding or charge, once per correction id (money §5.4). `amount_micro` is signed: a
-- negative amount debits the wallet, and never more than is available. Returns
--   corrected  applied now
--   repeated   applied before; `recorded` and `recorded_reason` are what is recorded under that id
--   short      not applied: less than that is available
CREATE OR REPLACE FUNCTION money.correct(
  of_project text,
  correction text,
  amount_micro bigint,
  why text,
  by_user text,
  OUT outcome text,
  OUT recorded bigint, -- or null
  OUT recorded_reason text, -- or null
  OUT available bigint,
  OUT reserved bigint
) LANGUAGE plpgsql
AS $$
DECLARE
  w money.wallets;
  moment timestamptz(3);
BEGIN
  INSERT INTO money.wallets (project) VALUES (of_project) ON CONFLICT DO NOTHING;
  SELECT * INTO w FROM money.wallets WHERE project = of_project FOR UPDATE;
  moment := clock_timestamp();
  available := w.funded - w.settled - w.reserved;
  reserved := w.reserved;
  SELECT c.micro, c.reason INTO recorded, recorded_reason
    FROM money.corrections c WHERE c.project = of_project AND c.correction_id = correction;
  IF recorded IS NOT NULL THEN
    outcome := 'repeated';
    RETURN;
  END IF;
  IF available + amount_micro < 0 THEN
    outcome := 'short';
    RETURN;
  END IF;
  outcome := 'corrected';
  recorded := amount_micro;
  recorded_reason := why;
  available := available + amount_micro;
  w.journal_seq := w.journal_seq + 1;
  w.seal := sha256(w.seal || convert_to(w.journal_seq || ' correct ' || correction || ' 0 0 ' || amount_micro, 'UTF8'));
  INSERT INTO money.corrections (project, correction_id, micro, reason, corrected_by, at)
  VALUES (of_project, correction, amount_micro, why, by_user, moment);
  INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
  VALUES (of_project, w.journal_seq, 'correct', correction, amount_micro, 0, 0, -amount_micro, moment);
  INSERT INTO money.journal_blocks (project, last_seq, seal, at) VALUES (of_project, w.journal_seq, w.seal, moment);
  UPDATE money.wallets SET funded = w.funded + amount_micro, journal_seq = w.journal_seq, seal = w.seal
   WHERE project = of_project;
  PERFORM money.notify_threshold_crossings(moment, jsonb_build_array(jsonb_build_object(
    'project', of_project,
    'journal_seq', w.journal_seq,
    'remaining', w.funded + amount_micro - w.settled,
    'charged', -amount_micro,
    'below', w.notice_below)), NULL);
END $$;
