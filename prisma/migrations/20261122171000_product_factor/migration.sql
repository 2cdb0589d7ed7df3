-- What a provider uses beyond the bound of a prompt raises the factor of its product (money §2.5).
ALTER TABLE control.products ADD COLUMN factor_millionths integer NOT NULL DEFAULT 1000000
  CHECK (factor_millionths BETWEEN 1000000 AND 4000000);

-- What the factor is measured by. A reservation from before this has none, and raises none.
ALTER TABLE money.reservations ADD COLUMN prompt_bound bigint;
