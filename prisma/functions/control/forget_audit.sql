-- Deletes the oldest sealed audit entries before a time, up to a number, and keeps the place and seal of the newest one
-- as the start of the chain. Keeps entries for at least 30 days regardless of the argument. Stops at the first entry
-- that is to be kept, so the chain has no hole.
--
-- Runs with the permissions of its owner: the console's login can delete no entry.
CREATE OR REPLACE FUNCTION control.forget_audit(
  days_kept integer,
  max_entries integer,
  OUT forgotten integer
) LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  first_kept timestamptz := now() - greatest(days_kept, 30) * interval '1 day';
  cut bigint;
BEGIN
  forgotten := 0;
  IF NOT pg_try_advisory_xact_lock(hashtext('control.audit')) THEN
    RETURN;
  END IF;
  WITH oldest AS (
    SELECT a.position, a.at FROM control.audit a WHERE a.position IS NOT NULL ORDER BY a.position LIMIT max_entries
  )
  SELECT max(o.position) INTO cut FROM oldest o
   WHERE o.position < coalesce((SELECT min(k.position) FROM oldest k WHERE k.at >= first_kept), 9223372036854775807);
  IF cut IS NULL THEN
    RETURN;
  END IF;
  INSERT INTO control.audit_start AS s (position, seal, at)
  SELECT a.position, a.seal, a.at FROM control.audit a WHERE a.position = cut
  ON CONFLICT (one) DO UPDATE SET position = excluded.position, seal = excluded.seal, at = excluded.at
   WHERE s.position < excluded.position;
  DELETE FROM control.audit a WHERE a.position <= cut;
  GET DIAGNOSTICS forgotten = ROW_COUNT;
END $$;
