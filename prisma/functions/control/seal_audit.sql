-- Seals audit entries: gives committed ones the next places in the chain, each with the SHA-256 over the seal before
-- and its text (audit_text.sql).
--   A1  One sealer at a time, until it commits: places have no holes, and a reader who sees one sees all before it. So
--       a reader of the chain continues after a place and misses nothing, however late an entry was committed.
--   A2  Writers of entries never wait for it.
--
-- Runs with the permissions of its owner: the console's login may only add entries, without a place.
--
-- needs: control.audit_text
CREATE OR REPLACE FUNCTION control.seal_audit(
  max_entries integer,
  OUT sealed integer
) LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  last_position bigint;
  last_seal bytea;
  entry control.audit;
BEGIN
  sealed := 0;
  IF NOT EXISTS (SELECT FROM control.audit a WHERE a.position IS NULL) THEN
    RETURN;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('control.audit')); -- A1
  SELECT position, seal INTO last_position, last_seal
    FROM (SELECT a.position, a.seal FROM control.audit a WHERE a.position IS NOT NULL
          UNION ALL
          SELECT s.position, s.seal FROM control.audit_start s) c
   ORDER BY position DESC LIMIT 1;
  FOR entry IN SELECT a.* FROM control.audit a WHERE a.position IS NULL ORDER BY a.id LIMIT max_entries LOOP
    entry.position := coalesce(last_position, 0) + 1;
    last_position := entry.position;
    last_seal := sha256(coalesce(last_seal, '') || convert_to(control.audit_text(entry), 'UTF8'));
    UPDATE control.audit a SET position = last_position, seal = last_seal WHERE a.id = entry.id;
    sealed := sealed + 1;
  END LOOP;
END $$;
