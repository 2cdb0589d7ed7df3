-- Tokens times pico-USD, rounded up once to whole micro-USD. Of the prompt a part was cached and of the completion a part was
-- reasoning, each at a price of its own where there is one: never more than the whole at the usual price.
CREATE OR REPLACE FUNCTION money.micro_v2(
  prompt bigint,
  prompt_pico bigint,
  cached bigint,
  cached_pico bigint,
  completion bigint,
  completion_pico bigint,
  reasoning bigint,
  reasoning_pico bigint,
  request_pico bigint
) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$
  SELECT (prompt * prompt_pico
          - least(coalesce(cached, 0), prompt) * (prompt_pico - coalesce(cached_pico, prompt_pico))
          + completion * completion_pico
          - least(coalesce(reasoning, 0), completion) * (completion_pico - coalesce(reasoning_pico, completion_pico))
          + request_pico + 999999) / 1000000
$$;
