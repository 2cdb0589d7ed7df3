-- Returns the first product of a manifest that the project can't call now; null if it can call them all. A flow that
-- calls such a product is neither listed nor started (rules §4.1, flows §4.2).
CREATE OR REPLACE FUNCTION money.unassigned_product(
  for_project text,
  manifest text[]
) RETURNS text LANGUAGE sql STABLE
AS $$
  SELECT m.product FROM unnest(coalesce(manifest, '{}')) WITH ORDINALITY m (product, ordinal)
   WHERE NOT EXISTS (
           SELECT FROM control.assignments a
             JOIN control.products p ON p.id = a.product AND p.state = 'published'
            WHERE a.project = for_project AND a.product = m.product)
   ORDER BY m.ordinal LIMIT 1
$$;
