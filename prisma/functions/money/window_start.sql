-- Returns the start of the window that contains `moment`: UTC midnight, ISO Monday, the first of the month, or never.
CREATE OR REPLACE FUNCTION money.window_start(
  reset text,
  moment timestamptz
) RETURNS timestamptz LANGUAGE sql IMMUTABLE
AS $$
  SELECT CASE reset
    WHEN 'daily' THEN date_trunc('day', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
    WHEN 'weekly' THEN date_trunc('week', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
    WHEN 'monthly' THEN date_trunc('month', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
    WHEN 'lifetime' THEN to_timestamp(0)
  END
$$;
