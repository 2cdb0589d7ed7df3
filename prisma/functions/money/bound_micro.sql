-- Upper bound of the cost of a call: tokens times pico-USD, rounded up once to whole micro-USD. The provider may write
-- the whole prompt to its cache, which never costs less than the regular price.
CREATE OR REPLACE FUNCTION money.bound_micro(
  prompt bigint,
  prompt_pico bigint,
  cache_write_pico bigint,
  completion bigint,
  completion_pico bigint,
  request_pico bigint
) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$
  SELECT (prompt * coalesce(cache_write_pico, prompt_pico) + completion * completion_pico + request_pico + 999999) / 1000000
$$;
