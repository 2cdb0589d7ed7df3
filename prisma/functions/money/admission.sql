-- A row type: one admission of a batch, a direct call's or a node's. Services send an item by the names of its fields
-- (packages/database/src/call-function.ts): a field that is not sent is null. A view without rows, because a view can get one more
-- column at its end together with the functions that read it, and a type can't.
CREATE OR REPLACE VIEW money.admission AS
SELECT NULL::text AS id, -- of the reservation
       NULL::integer AS pair, -- which one of the batch it has, counted from 1
       NULL::text AS instance, -- null: decide what comes before money, and reserve nothing
       NULL::text AS selector, -- the project that a direct call names
       NULL::text AS node, -- of an execution; null: a direct call
       NULL::text AS lease,
       NULL::text[] AS parameters, -- that the model has to support
       NULL::integer AS bytes, -- of the prompt
       NULL::integer AS messages,
       NULL::integer AS tools,
       NULL::integer AS images,
       NULL::integer AS counted, -- tokens of its text, where they were counted
       NULL::integer AS max_tokens,
       NULL::text AS key, -- for idempotency
       NULL::text AS fingerprint -- of the request under that key, hex
 WHERE false;
