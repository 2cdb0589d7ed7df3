-- Months of the books that were written to files, and what their wallets were at the end of them (money §9.4). The rows
-- are written by the owner's login, which alone may drop a partition.

CREATE TABLE money.archives (
  month    date PRIMARY KEY CHECK (extract(day FROM month) = 1), -- its first day
  manifest bytea NOT NULL CHECK (octet_length(manifest) = 32), -- SHA-256 of the file that names all others
  folder   text NOT NULL, -- as the command was told
  entries  bigint NOT NULL, -- of the journal
  attempts date[] NOT NULL, -- the months whose records of use are in this archive
  at       timestamptz(3) NOT NULL
);

-- The newest archived entry of each wallet: the check of the books begins behind it.
CREATE TABLE money.archived_wallets (
  project  text PRIMARY KEY,
  month    date NOT NULL, -- the newest archived one in which the wallet moved
  seq      bigint NOT NULL,
  at       timestamptz(3) NOT NULL, -- no archived entry of the wallet is later
  funded   bigint NOT NULL,
  reserved bigint NOT NULL,
  settled  bigint NOT NULL,
  seal     bytea NOT NULL,
  windows  text NOT NULL -- JSON: lineage, start and spending of the windows that a meter may still have
);
