-- Signing in: by a provider of identities besides passwords, and slowly for whoever guesses.

-- Who a person is at a sign-in provider (OpenID Connect), from the first sign-in there on. One identity per provider: an
-- e-mail that the provider has given to somebody else does not bring its former owner's account along.
CREATE TABLE control.person_identities (
  issuer     text NOT NULL,
  subject    text NOT NULL,
  person     text NOT NULL REFERENCES control.people,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject),
  UNIQUE (person, issuer)
);

-- The organization whose Admin chose this person's first password, and so could sign in as them. null: nobody did. No
-- reference, because the fact outlives the organization.
ALTER TABLE control.people ADD COLUMN vouched_by text;

-- Attempts to sign in, counted for all replicas. Losing them in a crash gives a guesser one more minute's worth.
CREATE UNLOGGED TABLE control.sign_in_attempts (
  key    text PRIMARY KEY,
  points integer NOT NULL,
  expire timestamptz(3)
);

GRANT SELECT, INSERT, DELETE ON control.person_identities TO svc_console;
GRANT SELECT, INSERT, UPDATE, DELETE ON control.sign_in_attempts TO svc_console;
