-- Returns the cost of a call: tokens times pico-USD, rounded up once to whole micro-USD. Prompt tokens read from a
-- cache or written to it and reasoning tokens have a separate price if one is set. Only the price of writes can be above
-- the regular price (money.bound_micro).
CREATE OR REPLACE FUNCTION money.charge_micro(
  prompt bigint,
  prompt_pico bigint,
  cached bigint,
  cached_pico bigint,
  written bigint,
  cache_write_pico bigint,
  completion bigint,
  completion_pico bigint,
  reasoning bigint,
  reasoning_pico bigint,
  request_pico bigint
) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$
  SELECT (prompt * prompt_pico
          - least(coalesce(cached, 0), prompt) * (prompt_pico - coalesce(cached_pico, prompt_pico))
          + least(coalesce(written, 0), prompt - least(coalesce(cached, 0), prompt))
            * (coalesce(cache_write_pico, prompt_pico) - prompt_pico)
          + completion * completion_pico
          - least(coalesce(reasoning, 0), completion) * (completion_pico - coalesce(reasoning_pico, completion_pico))
          + request_pico + 999999) / 1000000
$$;
