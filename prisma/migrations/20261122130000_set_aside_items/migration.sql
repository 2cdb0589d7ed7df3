-- Settlements and completions that Postgres refused again and again for no business reason, kept until they can be
-- written (services/ledger/src/set-aside).
CREATE TABLE money.set_aside_items (
  name        text PRIMARY KEY, -- of a settlement its reservation, of a completion its lease of a node
  project     text, -- null: it could not be looked up
  item        bytea NOT NULL, -- as its sender wrote it; it may carry an answer
  error       text NOT NULL, -- what Postgres said
  tries       integer NOT NULL DEFAULT 0,
  kept_at     timestamptz(3) NOT NULL,
  next_try_at timestamptz(3) NOT NULL
);
CREATE INDEX ON money.set_aside_items (next_try_at);

GRANT INSERT, UPDATE, DELETE ON money.set_aside_items TO svc_ledger;
-- Answers are read by nobody but the ledger.
REVOKE ALL ON money.set_aside_items FROM svc_console;
