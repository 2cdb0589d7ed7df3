-- The text of an audit entry that its seal covers: a JSON list of texts and nulls, without spaces. Every column is part
-- of it, so no two different entries have the same text.
CREATE OR REPLACE FUNCTION control.audit_text(e control.audit) RETURNS text LANGUAGE sql STABLE
  SET search_path = pg_catalog, pg_temp
AS $$
  SELECT array_to_json(ARRAY[
    e.position::text,
    e.id::text,
    e.tenant,
    e.original::text,
    to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    e.user_id,
    e.user_name,
    e.action,
    e.subject,
    e.details::text,
    e.outcome,
    e.request,
    e.address,
    e.device
  ])::text
$$;
