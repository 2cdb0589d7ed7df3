-- Drops one partition of a table, the oldest whose last day is more than `days_kept` days ago; answers its name, null:
-- none is. Saved answers are kept for 30 days at least (rules §5.4), whatever is asked for. What lies in `_unplanned`
-- is deleted by row.
--
-- As in make_partition_v1: one partition a call, and no lock is waited for longer than 100 ms. It can't be detached
-- concurrently, because the table has a default partition.
CREATE OR REPLACE FUNCTION money.drop_partition_v1(
  of_table text,
  days_kept integer,
  OUT dropped text
) LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '100ms'
AS $$
DECLARE
  first_kept date := (now() AT TIME ZONE 'UTC')::date - greatest(days_kept, 30);
BEGIN
  IF of_table <> 'answers' OR NOT pg_try_advisory_xact_lock(hashtext('money.partitions'), hashtext(of_table)) THEN
    RETURN;
  END IF;
  SELECT c.relname INTO dropped
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = ('money.' || quote_ident(of_table))::regclass
     AND c.relname ~ ('^' || of_table || '_[0-9]{8}$')
     AND c.relname < of_table || '_' || to_char(first_kept, 'YYYYMMDD')
   ORDER BY c.relname LIMIT 1;
  IF dropped IS NULL THEN
    DELETE FROM money.answers_unplanned WHERE day < first_kept;
    RETURN;
  END IF;
  EXECUTE format('ALTER TABLE money.%I DETACH PARTITION money.%I', of_table, dropped);
  EXECUTE format('DROP TABLE money.%I', dropped);
END $$;
