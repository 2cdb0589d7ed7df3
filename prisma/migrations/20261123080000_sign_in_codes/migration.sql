-- What a person has confirmed in the console, until the program that asked for it takes the token (decision 20).
CREATE TABLE control.sign_in_codes (
  hash            bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
  person          text NOT NULL REFERENCES control.people,
  challenge       text NOT NULL, -- of PKCE, S256
  name            text NOT NULL, -- of the token that is to be made
  expires_in_days integer NOT NULL,
  expires_at      timestamptz(3) NOT NULL
);
CREATE INDEX ON control.sign_in_codes (person);
GRANT SELECT, INSERT, DELETE ON control.sign_in_codes TO svc_console;
REVOKE UPDATE ON control.sign_in_codes FROM svc_console;
