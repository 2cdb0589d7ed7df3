-- Drops the oldest partition of a table whose retention is over. Returns its name; null: none is. For saved responses a
-- partition is a day; for executions it is a week in which all have ended, and its nodes are dropped with it. Both are
-- kept for at least 30 days (rules §5.4), regardless of the argument. Rows in `_unplanned` are deleted individually.
--
-- As in make_partition: one partition per call, and no lock is waited for longer than 100 ms. The partition can't be
-- detached concurrently, because the table has a default partition.
CREATE OR REPLACE FUNCTION money.drop_partition(
  of_table text,
  days_kept integer,
  OUT dropped text -- or null
) LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET timezone = 'UTC'
  SET lock_timeout = '100ms'
AS $$
DECLARE
  first_kept date := current_date - greatest(days_kept, 30);
  last_day date := first_kept - CASE of_table WHEN 'executions' THEN 7 ELSE 1 END;
  candidate text;
  of_nodes text; -- of the same week
  in_use boolean;
BEGIN
  IF of_table NOT IN ('answers', 'executions')
     OR NOT pg_try_advisory_xact_lock(hashtext('money.partitions'), hashtext(of_table)) THEN
    RETURN;
  END IF;
  FOR candidate IN
    SELECT c.relname
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = ('money.' || of_table)::regclass
       AND c.relname ~ ('^' || of_table || '_[0-9]{8}$')
       AND c.relname <= of_table || '_' || to_char(last_day, 'YYYYMMDD')
     ORDER BY c.relname
  LOOP
    IF of_table = 'executions' THEN
      EXECUTE format('SELECT EXISTS (SELECT FROM money.%I WHERE completed_at IS NULL OR completed_at >= %L)',
                     candidate, first_kept) INTO in_use;
      CONTINUE WHEN in_use;
      EXECUTE format('DELETE FROM money.execution_nodes_unplanned n USING money.%I e WHERE n.execution = e.id', candidate);
      of_nodes := replace(candidate, 'executions', 'execution_nodes');
      IF to_regclass('money.' || of_nodes) IS NOT NULL THEN
        EXECUTE format('ALTER TABLE money.execution_nodes DETACH PARTITION money.%I', of_nodes);
        EXECUTE format('DROP TABLE money.%I', of_nodes);
      END IF;
    END IF;
    EXECUTE format('ALTER TABLE money.%I DETACH PARTITION money.%I', of_table, candidate);
    EXECUTE format('DROP TABLE money.%I', candidate);
    dropped := candidate;
    RETURN;
  END LOOP;
  IF of_table = 'answers' THEN
    DELETE FROM money.answers_unplanned WHERE day < first_kept;
  ELSE
    WITH over AS (DELETE FROM money.executions_unplanned WHERE completed_at < first_kept RETURNING id)
    DELETE FROM money.execution_nodes n USING over WHERE n.execution = over.id;
  END IF;
END $$;
