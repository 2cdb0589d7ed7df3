-- Funds a wallet, once per funding id (money §5.2). Returns whether it was applied now, and what is recorded under that
-- id.
CREATE OR REPLACE FUNCTION money.fund(
  to_project text,
  funding text,
  amount_micro bigint,
  by_user text,
  OUT fresh boolean,
  OUT recorded bigint
) LANGUAGE plpgsql
AS $$
DECLARE
  w money.wallets;
  moment timestamptz(3);
BEGIN
  INSERT INTO money.wallets (project) VALUES (to_project) ON CONFLICT DO NOTHING;
  SELECT * INTO w FROM money.wallets WHERE project = to_project FOR UPDATE;
  moment := clock_timestamp();
  SELECT micro INTO recorded FROM money.fundings WHERE project = to_project AND funding_id = funding;
  fresh := recorded IS NULL;
  IF fresh THEN
    recorded := amount_micro;
    w.journal_seq := w.journal_seq + 1;
    w.seal := sha256(w.seal || convert_to(w.journal_seq || ' fund ' || funding || ' 0 0 ' || amount_micro, 'UTF8'));
    INSERT INTO money.fundings (project, funding_id, micro, funded_by, at)
    VALUES (to_project, funding, amount_micro, by_user, moment);
    INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
    VALUES (to_project, w.journal_seq, 'fund', funding, amount_micro, 0, 0, -amount_micro, moment);
    INSERT INTO money.journal_blocks (project, last_seq, seal, at) VALUES (to_project, w.journal_seq, w.seal, moment);
    UPDATE money.wallets SET funded = funded + amount_micro, journal_seq = w.journal_seq, seal = w.seal
     WHERE project = to_project;
  END IF;
END $$;
