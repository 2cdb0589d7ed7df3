-- Tokens of an organization or of one of its projects: for programs, with some of the permissions that its roles have.
CREATE TABLE control.access_tokens (
  id          text PRIMARY KEY,
  tenant      text NOT NULL REFERENCES control.tenants,
  project     text REFERENCES control.projects, -- null: of the whole organization
  name        text NOT NULL,
  hash        bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  prefix      text NOT NULL CHECK (length(prefix) = 12),
  permissions text[] NOT NULL CHECK (cardinality(permissions) > 0),
  created_by  text NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  expires_at  timestamptz(3) NOT NULL
);
CREATE INDEX ON control.access_tokens (tenant, project, id);
GRANT SELECT, INSERT, DELETE ON control.access_tokens TO svc_console;
REVOKE UPDATE ON control.access_tokens FROM svc_console; -- a token never gets more than it was made with

-- Who made something is a person or a token, and a token may be gone.
ALTER TABLE control.sandboxes DROP CONSTRAINT sandboxes_created_by_fkey;
ALTER TABLE control.revisions DROP CONSTRAINT revisions_created_by_fkey;
