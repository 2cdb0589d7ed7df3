-- Returns the partitions that a table should have from today up to `days_ahead` days ahead: their names, their days
-- (the last one excluded), the partition column, and their bounds, as text. None for a table that is not partitioned by
-- time.
-- needs: money.id_bound
CREATE OR REPLACE FUNCTION money.partition_periods(
  of_table text,
  days_ahead integer
) RETURNS TABLE (
  name text,
  starts date,
  ends date,
  by_column text,
  lower_bound text,
  upper_bound text
) LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp
  SET timezone = 'UTC'
AS $$
  WITH kind AS (
    SELECT * FROM (VALUES
      ('answers', 'day', 'day', NULL),
      ('attempts', 'month', 'id', 'inv'),
      ('journal', 'month', 'at', NULL),
      ('journal_blocks', 'month', 'at', NULL),
      ('executions', 'week', 'id', 'exe'),
      ('execution_nodes', 'week', 'execution', 'exe')) k (of_table, step, by_column, prefix)
     WHERE k.of_table = partition_periods.of_table
  ), period AS (
    SELECT k.*, s::date AS starts, (s + ('1 ' || k.step)::interval)::date AS ends
      FROM kind k
      CROSS JOIN generate_series(
        date_trunc(k.step, current_date::timestamp),
        current_date + least(greatest(days_ahead, 0), 1000) * interval '1 day',
        ('1 ' || k.step)::interval) s
  )
  SELECT p.of_table || '_' || to_char(p.starts, 'YYYYMMDD'), p.starts, p.ends, p.by_column,
         CASE WHEN p.prefix IS NULL THEN p.starts::text ELSE money.id_bound(p.prefix, p.starts) END,
         CASE WHEN p.prefix IS NULL THEN p.ends::text ELSE money.id_bound(p.prefix, p.ends) END
    FROM period p
   ORDER BY p.starts
$$;
