-- Removes archived rows of one month from one table (journal, journal_blocks, attempts), one step per call: the
-- partition is detached, then dropped, then rows in `_unplanned` are deleted. Returns what it did; null: nothing is
-- left.
--   D1  A month that is not in money.archives is never dropped.
--   D2  Writers of money never wait: a lock is waited for no longer than 100 ms, detaching is instant, and slow work is
--       done on the detached partition.
--   D3  Rows that arrived after the files were written are kept: they go back into the table, so into `_unplanned`.
--       Such a row requires a clock that is a month behind: the database's or, for an attempt, that of the service that
--       created its id.
--   D4  Runs with the permissions of its caller, who must own the tables.
CREATE OR REPLACE FUNCTION money.drop_archived(
  of_table text,
  of_month text,
  OUT done text -- or null
) LANGUAGE plpgsql
  SET search_path = pg_catalog, pg_temp
  SET timezone = 'UTC'
  SET lock_timeout = '100ms'
AS $$
DECLARE
  max_deleted CONSTANT integer := 10000;
  starts date := to_date(of_month, 'YYYY-MM');
  part text := of_table || '_' || to_char(starts, 'YYYYMMDD');
  strays text; -- of this month in `_unplanned`
  last_month date; -- the newest archive that contains it
  archived text; -- the condition that row d of wallet w is in a file
BEGIN
  IF of_table NOT IN ('journal', 'journal_blocks', 'attempts') THEN
    RAISE EXCEPTION '% has no archive', of_table;
  END IF;
  SELECT max(a.month) INTO last_month FROM money.archives a
   WHERE CASE of_table WHEN 'attempts' THEN starts = ANY (a.attempts) ELSE a.month = starts END;
  IF last_month IS NULL THEN -- D1
    RAISE EXCEPTION '% of % is not archived', of_table, of_month;
  END IF;
  archived := CASE of_table
    WHEN 'attempts' THEN format('d.closed_at < %L', (last_month + interval '1 month')::timestamptz)
    WHEN 'journal' THEN 'd.seq <= coalesce(w.seq, 0)'
    ELSE 'd.last_seq <= coalesce(w.seq, 0)'
  END;
  IF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass('money.' || part)) THEN
    -- Lock first what writers do not need, so that the table itself is not locked while this waits for readers.
    EXECUTE format('LOCK TABLE ONLY money.%I, ONLY money.%I IN ACCESS EXCLUSIVE MODE', part, of_table || '_unplanned');
    EXECUTE format('ALTER TABLE money.%I DETACH PARTITION money.%I', of_table, part);
    done := 'detached ' || part;
    RETURN;
  END IF;
  IF to_regclass('money.' || part) IS NOT NULL THEN
    EXECUTE format('INSERT INTO money.%I
                    SELECT d.* FROM money.%I d LEFT JOIN money.archived_wallets w ON w.project = d.project
                     WHERE NOT (%s)', of_table, part, archived); -- D3
    EXECUTE format('DROP TABLE money.%I', part);
    done := 'dropped ' || part;
    RETURN;
  END IF;
  IF of_table = 'attempts' THEN -- no row in `_unplanned` is in a file
    RETURN;
  END IF;
  strays := format('FROM money.%I d LEFT JOIN money.archived_wallets w ON w.project = d.project
                       WHERE d.at < %L AND %s', of_table || '_unplanned',
                   (starts + interval '1 month')::timestamptz, archived);
  EXECUTE format('SELECT %L %s LIMIT 1', 'deleted from ' || of_table || '_unplanned', strays) INTO done;
  IF done IS NOT NULL THEN
    EXECUTE format('ALTER TABLE money.%I DISABLE TRIGGER append_only', of_table || '_unplanned');
    EXECUTE format('DELETE FROM money.%I WHERE ctid = ANY (ARRAY(SELECT d.ctid %s LIMIT %s))',
                   of_table || '_unplanned', strays, max_deleted);
    EXECUTE format('ALTER TABLE money.%I ENABLE TRIGGER append_only', of_table || '_unplanned');
  END IF;
END $$;
