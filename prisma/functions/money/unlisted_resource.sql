-- Returns the first resource needed to start a flow, of the sandbox product itself and the products of its manifest,
-- that the key does not list; null: the key may start it (rules §6.4).
CREATE OR REPLACE FUNCTION money.unlisted_resource(
  for_key text,
  policy text,
  sandbox text,
  manifest text[]
) RETURNS text LANGUAGE sql STABLE
AS $$
  SELECT n.resource FROM unnest(ARRAY[sandbox] || coalesce(manifest, '{}')) WITH ORDINALITY n (resource, ordinal)
   WHERE policy = 'listed'
     AND NOT EXISTS (SELECT FROM control.key_resources r WHERE r.key = for_key AND r.resource = n.resource)
   ORDER BY n.ordinal LIMIT 1
$$;
