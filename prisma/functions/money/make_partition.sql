-- Creates the first missing partition of a table, up to `days_ahead` days from today. Returns its name; null: none is
-- missing, or another session is creating one.
--
-- Readers and writers of money do not wait for it. The partition is created as a separate table and then attached, for
-- which Postgres locks only `_unplanned` and not the other partitions. One call creates one partition in one
-- transaction, and fails if it does not get a lock within 100 ms, so that no session queues behind it for longer. Rows
-- in `_unplanned` that belong in the partition are moved, if there are not too many.
--
-- Runs with the permissions of its owner, because the ledger's role may not change tables.
-- needs: money.partition_periods
CREATE OR REPLACE FUNCTION money.make_partition(
  of_table text,
  days_ahead integer,
  OUT made text -- or null
) LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET timezone = 'UTC'
  SET lock_timeout = '100ms'
AS $$
DECLARE
  max_moved CONSTANT integer := 10000;
  unplanned text := of_table || '_unplanned';
  append_only boolean;
  period record;
  inside text; -- the condition of rows that belong in the partition
  stray integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('money.partitions'), hashtext(of_table)) THEN
    RETURN;
  END IF;
  FOR period IN
    SELECT * FROM money.partition_periods(of_table, days_ahead) p WHERE to_regclass('money.' || p.name) IS NULL
  LOOP
    inside := format('%I >= %L AND %I < %L',
                     period.by_column, period.lower_bound, period.by_column, period.upper_bound);
    EXECUTE format('SELECT count(*) FROM (SELECT FROM money.%I WHERE %s LIMIT %s) t', unplanned, inside, max_moved + 1)
      INTO stray;
    CONTINUE WHEN stray > max_moved;
    EXECUTE format('CREATE TABLE money.%I (LIKE money.%I INCLUDING ALL)%s', period.name, of_table,
                   CASE WHEN of_table IN ('executions', 'execution_nodes')
                        THEN ' WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01)' ELSE '' END);
    IF of_table = 'answers' THEN
      EXECUTE format('REVOKE ALL ON money.%I FROM svc_console', period.name); -- granted by default privileges
    END IF;
    append_only := EXISTS (SELECT FROM pg_trigger t
                            WHERE t.tgrelid = ('money.' || unplanned)::regclass AND t.tgname = 'append_only');
    IF stray > 0 THEN
      IF append_only THEN
        EXECUTE format('ALTER TABLE money.%I DISABLE TRIGGER append_only', unplanned);
      END IF;
      EXECUTE format('WITH moved AS (DELETE FROM money.%I WHERE %s RETURNING *) INSERT INTO money.%I SELECT * FROM moved',
                     unplanned, inside, period.name);
      IF append_only THEN
        EXECUTE format('ALTER TABLE money.%I ENABLE TRIGGER append_only', unplanned);
      END IF;
    END IF;
    IF append_only THEN
      EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON money.%I
                        FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change()', period.name);
    END IF;
    EXECUTE format('ALTER TABLE money.%I ATTACH PARTITION money.%I FOR VALUES FROM (%L) TO (%L)',
                   of_table, period.name, period.lower_bound, period.upper_bound);
    made := period.name;
    RETURN;
  END LOOP;
END $$;
