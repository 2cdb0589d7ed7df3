-- What was made under an idempotency key of a person or token, so that a repeat makes nothing and is answered the same
-- (services/console/src/request/create-once.ts). Kept for two days.
CREATE TABLE control.idempotent_creations (
  person      text NOT NULL, -- or a token
  key         text NOT NULL,
  fingerprint bytea NOT NULL,
  answer      bytea, -- JSON, without a secret; null only within the transaction that makes it
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (person, key)
);
CREATE INDEX ON control.idempotent_creations (created_at);
GRANT SELECT, INSERT, UPDATE, DELETE ON control.idempotent_creations TO svc_console;
