-- Adds two histograms of money.latency_hours: records of six bytes, a bucket as two and its number of calls as four, big
-- endian, sorted by bucket. A reader can add up histograms by concatenating them; this keeps one record per bucket.
CREATE OR REPLACE FUNCTION money.add_histograms(
  one bytea,
  other bytea
) RETURNS bytea LANGUAGE sql IMMUTABLE
AS $$
  SELECT coalesce(string_agg(bucket::bytea || calls::bytea, ''::bytea ORDER BY bucket), '')
    FROM (SELECT bucket, sum(calls)::integer AS calls
            FROM (SELECT substr(records, 6 * n + 1, 2)::smallint AS bucket, substr(records, 6 * n + 3, 4)::integer AS calls
                    FROM (SELECT one || other AS records OFFSET 0) h, generate_series(0, length(records) / 6 - 1) n) r
           GROUP BY bucket) b
$$;
