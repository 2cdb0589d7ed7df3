-- Whether the journal of a wallet still has a block that was read. A check that remembers how far it has come asks this
-- when it writes that down: Postgres may have failed since, and lost blocks that were not on disk (B11 of run_batch).
CREATE OR REPLACE FUNCTION money.has_block(
  of_project text,
  seq bigint,
  of_seal bytea
) RETURNS boolean LANGUAGE sql STABLE
AS $$
  SELECT EXISTS (
    SELECT FROM money.journal_blocks b WHERE b.project = of_project AND b.last_seq = seq AND b.seal = of_seal)
$$;
