-- Anchors: what the books were at a moment, as one hash that is told outside of the database (money §9.3). And how far
-- the check has come that looks at older parts of the journals again.

CREATE TABLE money.anchors (
  number  bigint PRIMARY KEY,
  at      timestamptz(3) NOT NULL,
  wallets integer NOT NULL,
  root    bytea NOT NULL CHECK (octet_length(root) = 32)
);

-- Which journal entry of a wallet an anchor reaches up to: a row for each anchor before which the wallet had moved, so
-- the newest row up to an anchor is the one that counts. These rows are a help to find the entries; that they are right
-- is what the hash says.
CREATE TABLE money.anchored_heads (
  project text NOT NULL,
  anchor  bigint NOT NULL,
  seq     bigint NOT NULL,
  seal    bytea NOT NULL,
  PRIMARY KEY (project, anchor)
);

CREATE TABLE money.rechecked_wallets (
  project  text PRIMARY KEY,
  seq      bigint NOT NULL, -- looked at again up to this entry; 0: from the first entry on
  seal     bytea NOT NULL, -- of that entry
  findings integer NOT NULL, -- where it stands; it stays there until they are mended
  at       timestamptz(3) NOT NULL
);
CREATE INDEX ON money.rechecked_wallets (at);

GRANT INSERT ON money.anchors, money.anchored_heads TO svc_ledger;
GRANT INSERT, UPDATE ON money.rechecked_wallets TO svc_ledger;
