-- The partitions that a table is to have from today on, as far as `days_ahead` days: their names, their days (the last
-- one excluded) and their bounds, as text. None for a table that is not divided by time.
CREATE OR REPLACE FUNCTION money.partition_periods_v1(
  of_table text,
  days_ahead integer
) RETURNS TABLE (
  name text,
  starts date,
  ends date,
  lower_bound text,
  upper_bound text
) LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp
AS $$
  WITH today AS (
    SELECT (now() AT TIME ZONE 'UTC')::date AS day, least(greatest(days_ahead, 0), 1000) AS ahead
  )
  SELECT of_table || '_' || to_char(p.starts, 'YYYYMMDD'), p.starts, p.ends, p.starts::text, p.ends::text
    FROM (SELECT day + n AS starts, day + n + 1 AS ends FROM today, generate_series(0, ahead) n) p
   WHERE of_table = 'answers'
   ORDER BY p.starts
$$;
