-- Where notices are sent to, and how that goes (money §10.2).

CREATE TABLE money.webhooks (
  id         text PRIMARY KEY,
  project    text NOT NULL,
  url        text NOT NULL CHECK (char_length(url) <= 2048),
  secret_key text NOT NULL, -- which of the operator's keys its secret is made with; the secret itself is stored nowhere
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX ON money.webhooks (project);

-- A notice and a webhook of its project at that time; no foreign keys, so that no settlement waits for a webhook that is deleted.
CREATE TABLE money.webhook_deliveries (
  notice      text NOT NULL,
  webhook     text NOT NULL,
  state       text NOT NULL DEFAULT 'Pending' CHECK (state IN ('Pending', 'Delivered', 'Dead')),
  tries       integer NOT NULL DEFAULT 0,
  next_try_at timestamptz(3) NOT NULL, -- of a try under way: when it is given up for lost
  status      integer, -- of the last answer
  error       text, -- why there was none
  ended_at    timestamptz(3),
  PRIMARY KEY (notice, webhook)
) WITH (fillfactor = 80);
CREATE INDEX pending_deliveries ON money.webhook_deliveries (webhook, next_try_at) WHERE state = 'Pending';
GRANT INSERT, DELETE ON money.webhooks TO svc_ledger;
GRANT INSERT, UPDATE, DELETE ON money.webhook_deliveries TO svc_ledger;
