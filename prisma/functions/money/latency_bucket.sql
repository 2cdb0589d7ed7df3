-- Returns the bucket of a duration (money §9.6): bucket b holds the durations above 1.1^(b-1) ms, up to 1.1^b ms; bucket
-- 0 holds those up to 1 ms, and an hour is the longest. Numbers of buckets are stored, so the limits never change.
CREATE OR REPLACE FUNCTION money.latency_bucket(
  ms double precision
) RETURNS smallint LANGUAGE sql IMMUTABLE
AS $$
  SELECT CASE
           WHEN ms <= 1 THEN 0
           WHEN ms > 1 THEN ceil(ln(least(ms, 3600000)) / ln(1.1::double precision)) -- null stays null
         END::smallint
$$;
