-- Returns what prevents the cleanup of old row versions, which slows down every busy wallet: the age of the oldest
-- transaction of this database, and the age in transactions of the oldest snapshot held by any session, standby with
-- feedback, replication slot or prepared transaction.
-- Runs with the permissions of its owner, who must be able to see all sessions (a superuser or a member of
-- pg_read_all_stats); otherwise `oldest_ms` and `snapshot_age` are null.
CREATE OR REPLACE FUNCTION money.oldest_transaction(
  OUT oldest_ms bigint, -- or null
  OUT snapshot_age bigint -- or null
) LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF NOT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') THEN
    RETURN;
  END IF;
  WITH session AS MATERIALIZED (
    SELECT a.xact_start, a.backend_xmin FROM pg_stat_activity a
     WHERE (a.datname = current_database() OR a.backend_type = 'walsender')
       AND a.pid <> pg_backend_pid()
       AND a.backend_type <> 'autovacuum worker' -- does not hold back the cleanup horizon of others
  ), since AS (
    SELECT xact_start AS at FROM session
    UNION ALL
    SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
  ), snapshot AS (
    SELECT age(backend_xmin) AS age FROM session WHERE backend_xmin IS NOT NULL
    UNION ALL
    SELECT age(xmin) FROM pg_replication_slots WHERE xmin IS NOT NULL
    UNION ALL
    SELECT age(transaction) FROM pg_prepared_xacts WHERE database = current_database()
  )
  SELECT coalesce((SELECT extract(epoch FROM clock_timestamp() - min(at)) * 1000 FROM since), 0),
         coalesce((SELECT max(age) FROM snapshot), 0)
    INTO oldest_ms, snapshot_age;
END $$;
