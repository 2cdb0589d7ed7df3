-- What people want to be told of money, and what they were told of (money §10).

-- null: nothing. Amounts are micro-USD, the highest first; percents of every spending window, the lowest first: the first of a
-- list says at one comparison that no other one can be crossed.
ALTER TABLE money.wallets
  ADD COLUMN notice_below bigint[],
  ADD COLUMN notice_percents integer[];

-- Of projects that want to be told when their money lasts for fewer days than that.
CREATE TABLE money.days_left_thresholds (
  project text PRIMARY KEY,
  days    integer NOT NULL CHECK (days BETWEEN 1 AND 365),
  told    boolean NOT NULL DEFAULT false -- it lasts for fewer, and that was told
);
GRANT INSERT, UPDATE, DELETE ON money.days_left_thresholds TO svc_ledger;

-- One row for each crossing, written with what crossed.
CREATE TABLE money.notices (
  id              text PRIMARY KEY,
  project         text NOT NULL,
  kind            text NOT NULL CHECK (kind IN ('wallet.below', 'wallet.days_left', 'key.percent')),
  threshold       bigint NOT NULL, -- micro-USD, days or percent
  remaining_micro bigint, -- of a wallet: funded less settled, after what crossed
  key             text, -- of a window: the key that crossed, and the rest of its lineage's window
  lineage         text,
  window_start    timestamptz(3),
  limit_micro     bigint,
  spent_micro     bigint,
  at              timestamptz(3) NOT NULL
);
CREATE INDEX ON money.notices (project, at, id);
CREATE INDEX ON money.notices (at);
GRANT INSERT, DELETE ON money.notices TO svc_ledger;
