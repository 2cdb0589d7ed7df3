-- Upper bound of the cost of a call: tokens times pico-USD, rounded up once to whole micro-USD.
CREATE OR REPLACE FUNCTION money.bound_micro(
  prompt bigint,
  prompt_pico bigint,
  completion bigint,
  completion_pico bigint,
  request_pico bigint
) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$
  SELECT (prompt * prompt_pico + completion * completion_pico + request_pico + 999999) / 1000000
$$;
