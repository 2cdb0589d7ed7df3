-- A day's partition of saved answers is made ahead, and dropped when its retention is over (rules §5.1: 30 days).
-- Has the permissions of its owner, because the ledger's role may not change tables. Answers how many were dropped.
CREATE OR REPLACE FUNCTION money.keep_answer_partitions_v1(
  days_ahead integer,
  days_kept integer,
  OUT dropped integer
) LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog
AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  partition_day date;
  partition_name text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('money.keep_answer_partitions'));
  FOR partition_day IN SELECT today + n FROM generate_series(0, days_ahead) n LOOP
    partition_name := 'answers_' || to_char(partition_day, 'YYYYMMDD');
    IF to_regclass('money.' || partition_name) IS NULL
       AND NOT EXISTS (SELECT FROM money.answers_unplanned WHERE day = partition_day) THEN
      EXECUTE format('CREATE TABLE money.%I PARTITION OF money.answers FOR VALUES FROM (%L) TO (%L)',
                     partition_name, partition_day, partition_day + 1);
      EXECUTE format('REVOKE ALL ON money.%I FROM svc_console', partition_name); -- default privileges gave it
    END IF;
  END LOOP;
  dropped := 0;
  FOR partition_name IN
    SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'money'
       AND relname ~ '^answers_[0-9]{8}$'
       AND relname < 'answers_' || to_char(today - days_kept, 'YYYYMMDD')
  LOOP
    EXECUTE format('DROP TABLE money.%I', partition_name);
    dropped := dropped + 1;
  END LOOP;
  DELETE FROM money.answers_unplanned WHERE day < today - days_kept;
END $$;
