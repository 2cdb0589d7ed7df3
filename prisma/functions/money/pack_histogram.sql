-- Packs a histogram of money.usage_hours: records of six bytes, a bucket as two and its number of calls as four, big
-- endian. Histograms are added up by concatenation; once one is long, this keeps one record per bucket. Short ones, which
-- are the most by far, stay unchanged.
CREATE OR REPLACE FUNCTION money.pack_histogram(
  records bytea
) RETURNS bytea LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
  IF length(records) <= 6 * 64 THEN
    RETURN records;
  END IF;
  RETURN (
    SELECT string_agg(bucket::bytea || calls::bytea, ''::bytea ORDER BY bucket)
      FROM (SELECT bucket, sum(calls)::integer AS calls
              FROM (SELECT substr(records, 6 * n + 1, 2)::smallint AS bucket, substr(records, 6 * n + 3, 4)::integer AS calls
                      FROM generate_series(0, length(records) / 6 - 1) n) r
             GROUP BY bucket) b);
END $$;
