-- Keeps money.asset_usage equal to the rows of money.assets, in the transaction that adds them.
CREATE OR REPLACE FUNCTION money.count_assets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO money.asset_usage AS u (project, assets, bytes)
  SELECT a.project, count(*), sum(a.bytes) FROM added a GROUP BY a.project ORDER BY a.project
      ON CONFLICT (project) DO UPDATE SET assets = u.assets + EXCLUDED.assets, bytes = u.bytes + EXCLUDED.bytes;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER count_assets AFTER INSERT ON money.assets
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION money.count_assets();
