-- What an activation builds is a record of its own, so that a saved revision is never changed (flows §3.1). An
-- execution names the package that it began with, and keeps it whatever is activated later.

CREATE TABLE control.packages (
  sandbox        text NOT NULL,
  revision       integer NOT NULL,
  digest         text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
  package        bytea NOT NULL,
  runner_version text NOT NULL,
  manifest       text[] NOT NULL,
  paid_nodes     integer NOT NULL CHECK (paid_nodes BETWEEN 0 AND 8),
  chat_input     text,
  chat_output    text,
  built_at       timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (sandbox, revision, digest),
  FOREIGN KEY (sandbox, revision) REFERENCES control.revisions (sandbox, number) ON DELETE CASCADE,
  CHECK ((chat_input IS NULL) = (chat_output IS NULL))
);
GRANT SELECT ON control.packages TO svc_ledger;
GRANT SELECT, INSERT ON control.packages TO svc_console; -- never changed

-- NULL where the release before this one has activated it: the package is then the one that was saved.
ALTER TABLE control.sandboxes ADD COLUMN active_digest text;
-- NULL where the release before this one has begun it.
ALTER TABLE money.executions ADD COLUMN digest text;

-- So far every package names runner 1.
INSERT INTO control.packages (
  sandbox, revision, digest, package, runner_version, manifest, paid_nodes, chat_input, chat_output, built_at
)
SELECT r.sandbox, r.number, r.digest, r.package, '1', r.manifest, r.paid_nodes, r.chat_input, r.chat_output,
       s.activated_at
  FROM control.sandboxes s
  JOIN control.revisions r ON r.sandbox = s.id AND r.number = s.active_revision
 WHERE r.digest IS NOT NULL;
UPDATE control.sandboxes s SET active_digest = p.digest
  FROM control.packages p WHERE p.sandbox = s.id AND p.revision = s.active_revision;
