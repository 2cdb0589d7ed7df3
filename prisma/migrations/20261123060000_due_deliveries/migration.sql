-- What is due is found by its time, and webhooks that have something on its way one after the other, in the order of the characters at
-- the end of their ids, which are random (services/ledger/src/webhooks/take-due.ts).
CREATE INDEX due_deliveries ON money.webhook_deliveries (next_try_at) WHERE state = 'Pending';
CREATE INDEX webhooks_with_pending ON money.webhook_deliveries (reverse(webhook)) WHERE state = 'Pending';
