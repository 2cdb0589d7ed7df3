-- Prompt tokens that a provider read from its cache, and completion tokens that a model thought, are part of the prompt and
-- of the completion. A product may have a price for them that is lower, never higher: what is reserved for a call covers
-- its charge, whatever part of it was cached or thought (money §2.1). NULL: they cost what the others do.
ALTER TABLE control.products
  ADD COLUMN cached_pico bigint,
  ADD COLUMN reasoning_pico bigint,
  ADD CONSTRAINT cached_is_no_dearer CHECK (cached_pico BETWEEN 0 AND prompt_pico),
  ADD CONSTRAINT reasoning_is_no_dearer CHECK (reasoning_pico BETWEEN 0 AND completion_pico);
-- As they were when the call was admitted, like the other prices.
ALTER TABLE money.reservations ADD COLUMN cached_pico bigint, ADD COLUMN reasoning_pico bigint;
-- The counts: NULL where the provider told none.
ALTER TABLE money.attempts
  ADD COLUMN cached_pico bigint,
  ADD COLUMN reasoning_pico bigint,
  ADD COLUMN cached_tokens integer,
  ADD COLUMN reasoning_tokens integer;
