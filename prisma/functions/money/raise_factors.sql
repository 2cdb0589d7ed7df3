-- Raises the factors of products whose providers have used more than the bound of a prompt (money §2.5). Runs in the
-- transaction that settles, so a factor is raised exactly when there is a write-off. A factor is in millionths. It only
-- grows, in steps of a twentieth so that few changes suffice, up to 4; each change is audited. Only an operator lowers
-- it.
--
-- Does not wait for the row of a product: if an operator is changing it or another batch is raising it, the row is
-- skipped and the next excess raises it.
--
-- Runs with the permissions of its owner, because the ledger's role may not change products.
CREATE OR REPLACE FUNCTION money.raise_factors(
  r_product text[],
  r_factor bigint[]
) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  WITH wanted AS (
    SELECT product, least(4000000, (max(factor) + 49999) / 50000 * 50000)::integer AS factor
      FROM unnest(r_product, r_factor) AS r (product, factor)
     GROUP BY product
  ), found AS (
    SELECT p.id, p.factor_millionths AS before
      FROM control.products p
     WHERE p.id = ANY (r_product)
     ORDER BY p.id
       FOR NO KEY UPDATE SKIP LOCKED
  ), raised AS (
    UPDATE control.products p SET factor_millionths = w.factor
      FROM found f
      JOIN wanted w ON w.product = f.id
     WHERE p.id = ANY (r_product) AND p.id = f.id AND w.factor > f.before
    RETURNING p.id, f.before, p.factor_millionths AS after
  )
  INSERT INTO control.audit (action, subject, details)
  SELECT 'product.factor',
         id,
         jsonb_build_object('before', before / 1000000.0, 'after', after / 1000000.0)
    FROM raised;
END $$;
