-- What a usage costs, in micro-USD. It is the JSON value of a closing; what is priced of it is read here.
-- needs: money.micro_v1
CREATE OR REPLACE FUNCTION money.usage_micro_v1(
  usage jsonb,
  prompt_pico bigint,
  completion_pico bigint,
  request_pico bigint
) RETURNS bigint LANGUAGE sql IMMUTABLE
AS $$
  SELECT money.micro_v1((usage ->> 'promptTokens')::bigint, prompt_pico,
                        (usage ->> 'completionTokens')::bigint, completion_pico, request_pico)
$$;
