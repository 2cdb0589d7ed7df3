-- A price as it goes with an admission (packages/pricing/src/usage.ts): pico-USD as digits, because a number of JSON is
-- read as a double.
-- STABLE, so that it is inlined: json_build_array is no more than that.
CREATE OR REPLACE FUNCTION money.price_snapshot(
  prompt_pico bigint,
  completion_pico bigint,
  request_pico bigint,
  cached_pico bigint,
  reasoning_pico bigint
) RETURNS json LANGUAGE sql STABLE
AS $$
  SELECT json_build_array(
    prompt_pico::text, completion_pico::text, request_pico::text, cached_pico::text, reasoning_pico::text)
$$;
