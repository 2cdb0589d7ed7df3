-- A row type: one admission of a batch, of a direct call or a node. Services send an item by field names
-- (packages/database/src/call-function.ts); fields that are not sent are null. It is a view without rows, because a
-- view can get another column at its end together with the functions that read it, and a type can't.
CREATE OR REPLACE VIEW money.admission AS
SELECT NULL::text AS id, -- of the reservation
       NULL::integer AS pair, -- index of its pair in the batch, from 1
       NULL::text AS instance, -- null: run only the checks before those of funds, and reserve nothing
       NULL::text AS selector, -- the project that a direct call names
       NULL::text AS node, -- of an execution; null: a direct call
       NULL::text AS lease,
       NULL::text[] AS parameters, -- that the model must support
       NULL::integer AS bytes, -- of the prompt
       NULL::integer AS messages,
       NULL::integer AS tools,
       NULL::integer AS images,
       NULL::integer AS counted, -- tokens of its text, if they were counted
       NULL::integer AS max_tokens,
       NULL::text AS key, -- for idempotency
       NULL::text AS fingerprint, -- of the request under that key, hex
       NULL::text AS kind, -- of the product that a direct call expects; null: any
       NULL::integer AS files -- whose tokens are unknown; null: none
 WHERE false;
