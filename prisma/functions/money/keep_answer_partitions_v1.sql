-- What the version before calls for partitions of saved answers: makes and drops all of them in one transaction. See
-- money.make_partition_v1 and money.drop_partition_v1, which do it one by one. Answers how many were dropped.
CREATE OR REPLACE FUNCTION money.keep_answer_partitions_v1(
  days_ahead integer,
  days_kept integer,
  OUT dropped integer
) LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
  SET lock_timeout = '100ms'
AS $$
BEGIN
  WHILE (money.make_partition_v1('answers', days_ahead)) IS NOT NULL LOOP
  END LOOP;
  dropped := 0;
  WHILE (money.drop_partition_v1('answers', days_kept)) IS NOT NULL LOOP
    dropped := dropped + 1;
  END LOOP;
END $$;
