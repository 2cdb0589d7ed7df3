-- Keeps money.asset_usage equal to the rows of money.assets, in the transaction that removes them.
CREATE OR REPLACE FUNCTION money.discount_assets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE money.asset_usage u SET assets = u.assets - gone.assets, bytes = u.bytes - gone.bytes
    FROM (SELECT a.project, count(*) AS assets, sum(a.bytes) AS bytes FROM removed a GROUP BY a.project) gone
   WHERE u.project = gone.project;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER discount_assets AFTER DELETE ON money.assets
  REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION money.discount_assets();
