-- Returns the code that refuses a key itself, or null (rules §2.3, up to the issuer).
-- needs: money.callers
CREATE OR REPLACE FUNCTION money.key_refusal(
  k money.callers,
  moment timestamptz
) RETURNS text LANGUAGE sql IMMUTABLE
AS $$
  SELECT CASE
    WHEN k.id IS NULL THEN 'key_invalid'
    WHEN k.revoked_at IS NOT NULL THEN 'key_revoked'
    WHEN k.rotated_to IS NOT NULL AND (k.grace_until IS NULL OR k.grace_until <= moment) THEN 'key_revoked'
    WHEN k.expires_at <= moment THEN 'key_expired'
    WHEN k.paused_at IS NOT NULL THEN 'key_paused'
    WHEN k.project IS NULL THEN 'key_unbound'
    WHEN NOT k.issuer_authorized THEN 'key_issuer_denied'
  END
$$;
