-- Returns for how many days from today a table has partitions without a gap. Rows of later days go into its partition
-- `_unplanned`, from which they can't be dropped as a whole.
-- needs: money.partition_periods
CREATE OR REPLACE FUNCTION money.planned_days(
  of_table text
) RETURNS integer LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp
AS $$
  SELECT coalesce(min(p.starts) FILTER (WHERE to_regclass('money.' || p.name) IS NULL), max(p.ends))
         - (now() AT TIME ZONE 'UTC')::date
    FROM money.partition_periods(of_table, 400) p
$$;
