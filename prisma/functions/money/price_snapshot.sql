-- A price as recorded with an admission (packages/pricing/src/usage.ts): pico-USD as strings of digits, because JSON
-- numbers are parsed as doubles.
-- STABLE, because json_build_array is only STABLE; otherwise the function would not be inlined.
CREATE OR REPLACE FUNCTION money.price_snapshot(
  prompt_pico bigint,
  completion_pico bigint,
  request_pico bigint,
  cached_pico bigint,
  reasoning_pico bigint,
  cache_write_pico bigint
) RETURNS json LANGUAGE sql STABLE
AS $$
  SELECT json_build_array(
    prompt_pico::text, completion_pico::text, request_pico::text, cached_pico::text, reasoning_pico::text,
    cache_write_pico::text)
$$;
