-- Whether a released call counts as an error (money §9.6), by the reason as written (compose-invocation.ts). A call that is
-- made again, or whose execution had ended, does not.
CREATE OR REPLACE FUNCTION money.is_call_error(
  reason text
) RETURNS boolean LANGUAGE sql IMMUTABLE
AS $$
  SELECT coalesce(reason, '') NOT IN ('its worker gave it back', 'its execution was over')
$$;
