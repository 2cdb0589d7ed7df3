-- Makes one partition of a table, the first that is missing up to `days_ahead` days from today. Answers its name; null:
-- none is missing, or somebody else is making one. A day that has rows in `_unplanned` already stays there.
--
-- Nobody who writes or reads money waits for it. The partition is made as a table of its own and then attached, for
-- which Postgres locks `_unplanned` and lets the other partitions be written; one call is one transaction with one
-- partition; and a lock that it does not get within 100 ms fails the call, so that nobody queues behind it for longer.
--
-- Has the permissions of its owner, because the ledger's role may not change tables.
-- needs: money.partition_periods_v1
CREATE OR REPLACE FUNCTION money.make_partition_v1(
  of_table text,
  days_ahead integer,
  OUT made text
) LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '100ms'
AS $$
DECLARE
  period record;
  is_taken boolean;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('money.partitions'), hashtext(of_table)) THEN
    RETURN;
  END IF;
  FOR period IN
    SELECT * FROM money.partition_periods_v1(of_table, days_ahead) p WHERE to_regclass('money.' || p.name) IS NULL
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM money.%I WHERE day >= %L AND day < %L)',
                   of_table || '_unplanned', period.lower_bound, period.upper_bound) INTO is_taken;
    CONTINUE WHEN is_taken;
    EXECUTE format('CREATE TABLE money.%I (LIKE money.%I INCLUDING ALL)', period.name, of_table);
    EXECUTE format('REVOKE ALL ON money.%I FROM svc_console', period.name); -- default privileges gave it
    EXECUTE format('ALTER TABLE money.%I ATTACH PARTITION money.%I FOR VALUES FROM (%L) TO (%L)',
                   of_table, period.name, period.lower_bound, period.upper_bound);
    made := period.name;
    RETURN;
  END LOOP;
END $$;
