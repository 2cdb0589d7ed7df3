-- Takes an anchor (money §9.3): one hash over the newest entry and the seal of every wallet, in order of their ids.
-- Takes none if no wallet has moved since the last anchor and that is less than a day old, or while another replica
-- takes one. The heads of an anchor and its hash are read by one statement, so in one snapshot.
CREATE OR REPLACE FUNCTION money.take_anchor(
  OUT anchor bigint, -- or null
  OUT wallets integer, -- or null
  OUT root text -- or null
) LANGUAGE plpgsql
AS $$
DECLARE
  last money.anchors;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('money.anchor')) THEN
    RETURN;
  END IF;
  SELECT * INTO last FROM money.anchors a ORDER BY a.number DESC LIMIT 1;
  WITH head AS MATERIALIZED (
    SELECT w.project, w.journal_seq AS seq, w.seal FROM money.wallets w WHERE w.journal_seq > 0
  ), whole AS (
    SELECT count(*)::integer AS wallets,
           sha256(convert_to(coalesce(string_agg(
             h.project || ' ' || h.seq || ' ' || encode(h.seal, 'hex'), E'\n' ORDER BY h.project COLLATE "C"
           ), ''), 'UTF8')) AS root
      FROM head h
  ), taken AS (
    INSERT INTO money.anchors AS a (number, at, wallets, root)
    SELECT coalesce(last.number, 0) + 1, clock_timestamp(), t.wallets, t.root FROM whole t
     WHERE t.root IS DISTINCT FROM last.root OR last.at <= clock_timestamp() - interval '1 day'
    RETURNING a.number, a.wallets, a.root
  ), moved AS (
    INSERT INTO money.anchored_heads (project, anchor, seq, seal)
    SELECT h.project, t.number, h.seq, h.seal
      FROM taken t
      CROSS JOIN head h
      LEFT JOIN LATERAL (
        SELECT x.seq, x.seal FROM money.anchored_heads x WHERE x.project = h.project ORDER BY x.anchor DESC LIMIT 1
      ) before ON true
     WHERE (before.seq, before.seal) IS DISTINCT FROM (h.seq, h.seal)
  )
  SELECT t.number, t.wallets, encode(t.root, 'hex') INTO anchor, wallets, root FROM taken t;
END $$;
