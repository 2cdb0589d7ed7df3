-- Tables, indexes, partitions, roles and grants. `control` holds who may do what, `money` is the book of record. Views,
-- functions and triggers are in prisma/functions and are applied after this file.
--
-- The functions decide; a CHECK is the last line of defence and rejects what they must never write.
--
-- Flow graphs, node results and errors are stored as bytea: text from outside may contain what text and jsonb reject.

CREATE SCHEMA control;
CREATE SCHEMA money;

------------------------------------------------------------------------------------------ organizations and users

CREATE TABLE control.tenants (
  id                    text PRIMARY KEY,
  name                  text NOT NULL,
  require_second_factor boolean NOT NULL DEFAULT false, -- of everything that a member does in it
  created_at            timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE control.users (
  id                text PRIMARY KEY,
  email             text NOT NULL UNIQUE CHECK (email = lower(email)),
  name              text NOT NULL,
  password_hash     text,
  platform_operator boolean NOT NULL DEFAULT false,
  -- The organization whose Admin handed over the link of the invitation, and so could have used it; null: a mail proved
  -- the email. No foreign key, because this stays true after the organization is deleted.
  vouched_by        text,
  disabled_at       timestamptz(3), -- by a platform operator; null: the user may sign in
  created_at        timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE control.memberships (
  tenant     text NOT NULL REFERENCES control.tenants,
  user_id     text NOT NULL REFERENCES control.users,
  role       text NOT NULL CHECK (role IN ('Admin', 'Member')),
  suspended_at timestamptz(3), -- by an Admin; until it is null again, the membership has no effect
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, user_id)
);
CREATE INDEX ON control.memberships (user_id);

CREATE TABLE control.teams (
  id         text PRIMARY KEY,
  tenant     text NOT NULL REFERENCES control.tenants,
  name       text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON control.teams (tenant);

CREATE TABLE control.team_members (
  team       text NOT NULL REFERENCES control.teams,
  user_id     text NOT NULL REFERENCES control.users,
  role       text NOT NULL CHECK (role IN ('Team Owner', 'Team Member')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (team, user_id)
);
CREATE INDEX ON control.team_members (user_id);

CREATE TABLE control.projects (
  id                   text PRIMARY KEY,
  tenant               text NOT NULL REFERENCES control.tenants,
  team                 text NOT NULL REFERENCES control.teams,
  name                 text NOT NULL,
  asset_retention_days integer DEFAULT 90 CHECK (asset_retention_days BETWEEN 1 AND 3650), -- null: assets are never deleted
  quotas               jsonb NOT NULL DEFAULT '{}', -- set for this project, by name; others are the operator's defaults
  rates                jsonb NOT NULL DEFAULT '{}', -- limits per minute, by name; others are unlimited
  key_self_rotation    boolean NOT NULL DEFAULT true, -- whether its keys may rotate themselves
  capture              jsonb, -- how prompts and answers are captured; null: they are not
  created_at           timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON control.projects (tenant);

CREATE TABLE control.project_grants (
  project    text NOT NULL REFERENCES control.projects,
  user_id     text NOT NULL REFERENCES control.users,
  role       text NOT NULL CHECK (role IN ('Project Owner', 'Project Consumer', 'Project Viewer')),
  reads_content boolean NOT NULL DEFAULT false, -- whether the user may read captured content
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (project, user_id)
);
CREATE INDEX ON control.project_grants (user_id);

-- Who owned a project before: they see who is to become its owner, and may object
-- (services/console/src/projects/appointments.ts).
CREATE TABLE control.former_owners (
  project  text NOT NULL REFERENCES control.projects ON DELETE CASCADE,
  user_id  text NOT NULL REFERENCES control.users,
  ended_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (project, user_id)
);
CREATE INDEX ON control.former_owners (user_id);

CREATE TABLE control.owner_appointments (
  project      text PRIMARY KEY REFERENCES control.projects ON DELETE CASCADE,
  tenant       text NOT NULL REFERENCES control.tenants,
  user_id      text NOT NULL REFERENCES control.users,
  appointed_by text NOT NULL REFERENCES control.users,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  effective_at timestamptz(3) NOT NULL,
  objected_by  text REFERENCES control.users, -- then only a platform operator appoints
  objected_at  timestamptz(3),
  CHECK ((objected_by IS NULL) = (objected_at IS NULL))
);
CREATE INDEX ON control.owner_appointments (tenant);

---------------------------------------------------------------------------------------------------------- sign-in

-- A user's identity at an OpenID Connect provider, recorded at the first sign-in. One identity per provider: when the
-- provider reassigns an email address, the new owner does not inherit the account of the old one.
CREATE TABLE control.user_identities (
  issuer     text NOT NULL,
  subject    text NOT NULL,
  user_id     text NOT NULL REFERENCES control.users,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject),
  UNIQUE (user_id, issuer)
);

-- Requests without a credential, counted across all replicas. Unlogged: a crash that loses them gives an attacker one
-- more minute of them.
CREATE UNLOGGED TABLE control.sign_in_attempts (
  key    text PRIMARY KEY,
  points integer NOT NULL,
  expire timestamptz(3)
);

-- Failed sign-ins (services/console/src/sign-in/throttle/decide-wait.ts). Unlogged, for the same reason.
CREATE UNLOGGED TABLE control.sign_in_failures (
  key   text PRIMARY KEY, -- a hash
  level double precision NOT NULL,
  at    timestamptz(3) NOT NULL
);
CREATE INDEX ON control.sign_in_failures (at);

-- Devices on which a user has signed in: the hash of the secret in their cookie.
CREATE TABLE control.known_devices (
  hash         bytea NOT NULL CHECK (octet_length(hash) = 32),
  user_id      text NOT NULL REFERENCES control.users,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3) NOT NULL,
  PRIMARY KEY (hash, user_id)
);
CREATE INDEX ON control.known_devices (user_id, last_used_at);

-- Invitations that are not accepted yet. Accepting, revoking and replacing one deletes it.
CREATE TABLE control.invitations (
  id         text PRIMARY KEY,
  tenant     text NOT NULL REFERENCES control.tenants,
  email      text NOT NULL CHECK (email = lower(email)),
  role       text NOT NULL CHECK (role IN ('Admin', 'Member')),
  hash       bytea UNIQUE CHECK (octet_length(hash) = 32), -- of the secret in the link; null: its mail is not sent yet
  by_mail    boolean NOT NULL, -- whether the link went to the email and nowhere else, and so proves it
  invited_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  sent_at    timestamptz(3), -- when the mail server took the newest mail
  made_with  text, -- the personal token that made the newest link, which ends it; null: none did
  UNIQUE (tenant, email)
);
CREATE INDEX ON control.invitations (made_with) WHERE made_with IS NOT NULL;

-- Links with which users set another password. One per user: a new one replaces it.
CREATE TABLE control.password_resets (
  user_id    text PRIMARY KEY REFERENCES control.users,
  hash       bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  by_mail    boolean NOT NULL,
  expires_at timestamptz(3) NOT NULL
);

-- Mails to send (services/console/src/mail/mail-queue.ts). The secret of a link is made when its mail is sent.
CREATE TABLE control.mails (
  id         text PRIMARY KEY,
  kind       text NOT NULL CHECK (kind IN ('invitation', 'reset')),
  subject    text NOT NULL, -- id of the invitation; email of the reset
  tries      integer NOT NULL DEFAULT 0,
  due_at     timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  UNIQUE (kind, subject)
);
CREATE INDEX ON control.mails (due_at);

-- Confirmations by users in the console, until the requesting program fetches the token (decision 20).
CREATE TABLE control.sign_in_codes (
  hash            bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
  user_id          text NOT NULL REFERENCES control.users,
  challenge       text NOT NULL, -- PKCE, S256
  name            text NOT NULL, -- of the token to create
  scopes          text[] NOT NULL, -- of the token to create
  second_factor   boolean NOT NULL, -- of the session in which the user confirmed it
  expires_in_days integer NOT NULL, -- of the token to create
  expires_at      timestamptz(3) NOT NULL -- of this code
);
CREATE INDEX ON control.sign_in_codes (user_id);

-- Personal tokens: what their user may do, limited to their scopes.
CREATE TABLE control.user_tokens (
  id            text PRIMARY KEY,
  user_id       text NOT NULL REFERENCES control.users,
  name          text NOT NULL,
  hash          bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  prefix        text NOT NULL,
  scopes        text[] NOT NULL CHECK (cardinality(scopes) > 0),
  second_factor boolean NOT NULL DEFAULT false, -- of the session that created it
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  expires_at    timestamptz(3) NOT NULL
);
CREATE INDEX ON control.user_tokens (user_id);

-- Sessions of the console, one per sign-in of a browser.
CREATE TABLE control.sessions (
  id            text PRIMARY KEY,
  user_id       text NOT NULL REFERENCES control.users,
  hash          bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  method        text NOT NULL CHECK (method IN ('password', 'provider')),
  second_factor boolean NOT NULL,
  address       text NOT NULL,
  device        text NOT NULL, -- User-Agent
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at  timestamptz(3) NOT NULL DEFAULT now(),
  expires_at    timestamptz(3) NOT NULL -- however often it is used
);
CREATE INDEX ON control.sessions (user_id);

-- A sign-in that was right so far and lacks the code of the second factor. It opens nothing by itself.
CREATE TABLE control.sign_in_tickets (
  hash       bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
  user_id    text NOT NULL REFERENCES control.users,
  method     text NOT NULL CHECK (method IN ('password', 'provider')),
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX ON control.sign_in_tickets (user_id);

-- The authenticator app of a user (RFC 6238).
CREATE TABLE control.second_factors (
  user_id      text PRIMARY KEY REFERENCES control.users,
  secret       bytea NOT NULL, -- encrypted with SECOND_FACTOR_KEY
  confirmed_at timestamptz(3), -- null: set up and not in use
  last_step    bigint NOT NULL DEFAULT 0, -- of the last accepted code; no code of this step or before is accepted
  failures     integer NOT NULL DEFAULT 0, -- wrong codes since the last right one
  retry_at     timestamptz(3) -- no code is checked before
);

-- Each replaces one code of the authenticator app. A used code is deleted.
CREATE TABLE control.recovery_codes (
  user_id text NOT NULL REFERENCES control.users,
  hash    bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (user_id, hash)
);

-- Service tokens of an organization or one of its projects, with a subset of the permissions that roles have.
CREATE TABLE control.access_tokens (
  id          text PRIMARY KEY,
  tenant      text NOT NULL REFERENCES control.tenants,
  project     text REFERENCES control.projects, -- null: the whole organization
  name        text NOT NULL,
  hash        bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  prefix      text NOT NULL CHECK (length(prefix) = 12),
  permissions text[] NOT NULL CHECK (cardinality(permissions) > 0),
  created_by  text NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  expires_at  timestamptz(3) NOT NULL,
  made_with   text -- the personal token that created it, and that it ends with; null: none did
);
CREATE INDEX ON control.access_tokens (tenant, project, id);
CREATE INDEX ON control.access_tokens (made_with) WHERE made_with IS NOT NULL;

------------------------------------------------------------------------------------- changes made in the console

-- What was created under an idempotency key, so that a repeat creates nothing and gets the same answer
-- (services/console/src/request/create-once.ts). Kept for two days.
CREATE TABLE control.idempotent_creations (
  user_id      text NOT NULL, -- or an access token
  key         text NOT NULL,
  fingerprint bytea NOT NULL,
  answer      bytea, -- JSON without secrets; null only inside the transaction that creates it
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (user_id, key)
);
CREATE INDEX ON control.idempotent_creations (created_at);

-- Append-only, and sealed as a chain after the commit (prisma/functions/control/seal_audit.sql).
CREATE TABLE control.audit (
  id        bigserial PRIMARY KEY,
  position  bigint UNIQUE, -- in the chain; null: not sealed yet
  seal      bytea CHECK (octet_length(seal) = 32), -- SHA-256 over the seal before and this entry
  tenant    text,
  original  bigint, -- the entry that this one repeats for an organization of its user
  at        timestamptz(3) NOT NULL DEFAULT now(),
  user_id   text, -- or a token; null: a key or the service
  user_name text, -- at that time
  action    text NOT NULL,
  subject   text NOT NULL,
  details   jsonb NOT NULL DEFAULT '{}',
  outcome   text NOT NULL DEFAULT 'succeeded' CHECK (outcome IN ('succeeded', 'refused')),
  request   text, -- the X-Request-Id of the answer
  address   text,
  device    text CHECK (length(device) <= 200), -- the user agent
  CHECK ((position IS NULL) = (seal IS NULL))
);
CREATE INDEX audit_to_seal ON control.audit (id) WHERE position IS NULL;
CREATE INDEX ON control.audit (tenant, position); -- for exports
-- One index per filter, so that a page never scans rows it does not return
-- (services/console/src/request/found-rows.ts).
CREATE INDEX ON control.audit (tenant, at, id);
CREATE INDEX ON control.audit (tenant, user_id, at, id);
CREATE INDEX ON control.audit (tenant, subject, at, id);
-- Of all organizations, without the entries that repeat another.
CREATE INDEX audit_of_all ON control.audit (at, id) WHERE original IS NULL;
CREATE INDEX audit_of_user ON control.audit (coalesce(user_id, details ->> 'user'), at, id) WHERE original IS NULL;

-- The newest entry that retention has removed: the chain begins after it.
CREATE TABLE control.audit_start (
  one      boolean PRIMARY KEY DEFAULT true CHECK (one),
  position bigint NOT NULL,
  seal     bytea NOT NULL CHECK (octet_length(seal) = 32),
  at       timestamptz(3) NOT NULL
);

-- Failed sign-ins of an hour, by user and block of addresses. A job turns them into entries of the audit
-- (services/console/src/audit/failed-sign-ins.ts).
CREATE TABLE control.failed_sign_ins (
  hour     timestamptz(3) NOT NULL,
  user_id  text NOT NULL, -- empty: of an email that no user has
  address  text NOT NULL,
  device   text,
  count    integer NOT NULL DEFAULT 1,
  reported integer NOT NULL DEFAULT 0, -- of the count: in the audit already
  last_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (hour, user_id, address)
);

-------------------------------------------------------------------------------------------------------- catalogue

-- The ceilings on prices and tokens keep `tokens * price` of one call within a bigint, with room to add three of them.
CREATE TABLE control.products (
  id                         text PRIMARY KEY,
  name                       text NOT NULL,
  description                text NOT NULL,
  owned_by                   text NOT NULL,
  kind                       text NOT NULL CHECK (kind IN ('chat', 'embedding', 'image', 'audio')),
  state                      text NOT NULL CHECK (state IN ('draft', 'published', 'suspended')),

  context_length             integer NOT NULL CHECK (context_length BETWEEN 1 AND 10000000),
  max_output_tokens          integer NOT NULL CHECK (max_output_tokens BETWEEN 1 AND 10000000),
  supported_parameters       text[] NOT NULL,
  input_modalities           text[] NOT NULL,
  output_modalities          text[] NOT NULL,
  is_moderated               boolean NOT NULL DEFAULT false,

  unit                       text NOT NULL CHECK (unit IN ('tokens', 'request')),
  prompt_pico                bigint NOT NULL DEFAULT 0 CHECK (prompt_pico BETWEEN 0 AND 100000000000),
  completion_pico            bigint NOT NULL DEFAULT 0 CHECK (completion_pico BETWEEN 0 AND 100000000000),
  request_pico               bigint NOT NULL DEFAULT 0 CHECK (request_pico BETWEEN 0 AND 1000000000000000000),
  -- Prompt tokens read from the provider's cache and reasoning tokens of the completion; null: the usual price. Never
  -- more than that, so a reservation covers the charge however many tokens were cached or reasoning (money §2.1).
  cached_pico                bigint CONSTRAINT cached_is_no_dearer CHECK (cached_pico BETWEEN 0 AND prompt_pico),
  reasoning_pico             bigint CONSTRAINT reasoning_is_no_dearer
                               CHECK (reasoning_pico BETWEEN 0 AND completion_pico),
  -- Prompt tokens written to the provider's cache; null: the usual price. Never less than that, so a reservation at
  -- this price covers the charge however many tokens were written.
  cache_write_pico           bigint CONSTRAINT cache_writes_are_no_cheaper
                               CHECK (cache_write_pico BETWEEN prompt_pico AND 100000000000),

  -- How the prompt size is bounded before the call.
  tokenizer                  text CHECK (tokenizer IN ('o200k_base', 'cl100k_base')),
  tokens_per_byte_millionths integer NOT NULL DEFAULT 1000000 CHECK (tokens_per_byte_millionths BETWEEN 1 AND 1000000),
  per_message                integer NOT NULL DEFAULT 8 CHECK (per_message BETWEEN 0 AND 10000),
  per_tool                   integer NOT NULL DEFAULT 16 CHECK (per_tool BETWEEN 0 AND 10000),
  fixed_with_tools           integer NOT NULL DEFAULT 64 CHECK (fixed_with_tools BETWEEN 0 AND 100000),
  max_tokens_per_image       integer CHECK (max_tokens_per_image BETWEEN 1 AND 100000),
  -- Raised when a provider reports more prompt tokens than the bound (money §2.5).
  factor_millionths          integer NOT NULL DEFAULT 1000000 CHECK (factor_millionths BETWEEN 1000000 AND 4000000),

  -- Images that a chat product accepts (rules §3.11). 15,728,640 bytes is the limit for all images of one request.
  image_max_bytes            integer NOT NULL DEFAULT 5242880 CHECK (image_max_bytes BETWEEN 1 AND 15728640),
  image_max_count            integer NOT NULL DEFAULT 10 CHECK (image_max_count BETWEEN 1 AND 100),
  image_https                boolean NOT NULL DEFAULT false,
  -- What image and audio products return, and the parameters a node may set (flows §2.3). 25,000,000 bytes is the limit
  -- for an asset.
  max_output_bytes           integer NOT NULL DEFAULT 5242880 CHECK (max_output_bytes BETWEEN 1 AND 25000000),
  parameter_values           jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(parameter_values) = 'object'),

  providers                  jsonb NOT NULL CHECK (jsonb_typeof(providers) = 'array'),
  created_at                 timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT prices_fit_unit
    CHECK (CASE unit WHEN 'tokens' THEN request_pico = 0 ELSE prompt_pico = 0 AND completion_pico = 0 END),
  -- Images and audio use no tokens, so a price per token would make them free (money §1.2).
  CONSTRAINT media_are_priced_by_request CHECK (kind IN ('chat', 'embedding') OR unit = 'request'),
  CONSTRAINT embeddings_have_no_completion CHECK (kind <> 'embedding' OR completion_pico = 0)
);

-- Test calls of providers (rules §7.12). The console adds them; a process takes and ends each through the ledger.
CREATE TABLE control.provider_tests (
  id           text PRIMARY KEY,
  provider     text NOT NULL,
  product      text NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('chat', 'embedding')), -- of the product
  model        text NOT NULL, -- at the provider
  requested_at timestamptz(3) NOT NULL,
  sender       text, -- the process that took it; null: none yet
  service      text,
  latency_ms   integer CHECK (latency_ms >= 0), -- null: it has not ended
  failure      text, -- kind; null: none
  status       integer, -- of the failure
  code         text
);
CREATE INDEX ON control.provider_tests (requested_at);

CREATE TABLE control.assignments (
  project    text NOT NULL REFERENCES control.projects,
  product    text NOT NULL REFERENCES control.products,
  created_by text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (project, product)
);
CREATE INDEX ON control.assignments (product);

------------------------------------------------------------------------------------------------------------- keys

CREATE TABLE control.keys (
  id           text PRIMARY KEY,
  hash         bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  prefix       text NOT NULL CHECK (length(prefix) = 12),
  name         text NOT NULL,
  tenant       text NOT NULL REFERENCES control.tenants,
  project      text REFERENCES control.projects,
  lineage      text NOT NULL,
  policy       text NOT NULL CHECK (policy IN ('all-eligible', 'listed')),
  limit_micro  bigint CHECK (limit_micro BETWEEN 1 AND 9007199254740991),
  limit_reset  text CHECK (limit_reset IN ('daily', 'weekly', 'monthly', 'lifetime')),
  created_by   text NOT NULL REFERENCES control.users,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  expires_at   timestamptz(3),
  expiry_days  integer CHECK (expiry_days BETWEEN 1 AND 365),
  rates        jsonb NOT NULL DEFAULT '{}', -- limits per minute, by name; others are unlimited
  revoked_at   timestamptz(3),
  paused_at    timestamptz(3), -- until a user resumes the key
  rotated_from text UNIQUE,
  rotated_to   text UNIQUE,
  rotated_by   text, -- of a replacement: the user or token that rotated, or the key before itself
  issued_at    timestamptz(3) NOT NULL DEFAULT now(), -- when a user last issued a secret of this chain
  grace_until  timestamptz(3),
  tag          text, -- of its calls; null: each call may have one
  made_with    text, -- the personal token that issued it or the key it comes from, and that it ends with; null: none did
  CONSTRAINT limit_has_reset CHECK ((limit_micro IS NULL) = (limit_reset IS NULL)),
  CONSTRAINT bound_key_expires CHECK (project IS NULL OR (expires_at IS NOT NULL AND expiry_days IS NOT NULL)),
  CONSTRAINT replacement_has_rotated_by CHECK ((rotated_from IS NULL) = (rotated_by IS NULL))
);
CREATE INDEX ON control.keys (tenant);
CREATE INDEX ON control.keys (project);
CREATE INDEX ON control.keys (lineage);
CREATE INDEX ON control.keys (made_with) WHERE made_with IS NOT NULL;

CREATE TABLE control.key_resources (
  key      text NOT NULL REFERENCES control.keys,
  resource text NOT NULL,
  PRIMARY KEY (key, resource)
);

-- Notices of what happened to keys and tokens, written with the change. The console hands them to the ledger, which
-- writes and sends them, and deletes them here (services/console/src/notices/mail-notices.ts).
CREATE TABLE control.outgoing_notices (
  id      text PRIMARY KEY,
  project text NOT NULL,
  kind    text NOT NULL,
  key     text, -- null: it is about a token
  details jsonb NOT NULL,
  at      timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON control.outgoing_notices (at);

------------------------------------------------------------------------------------------------------------ flows

-- `created_by` here and in revisions is a user or an access token. No foreign key: a token may be deleted.
CREATE TABLE control.sandboxes (
  id              text PRIMARY KEY CHECK (id LIKE 'sbx-%'),
  project         text NOT NULL REFERENCES control.projects,
  name            text NOT NULL,
  description     text NOT NULL,
  tags            text[] NOT NULL DEFAULT '{}',
  mcp_enabled     boolean NOT NULL DEFAULT false,
  suspended       boolean NOT NULL DEFAULT false,
  latest_revision integer NOT NULL DEFAULT 0 CHECK (latest_revision >= 0),
  active_revision integer CONSTRAINT active_revision_exists CHECK (active_revision BETWEEN 1 AND latest_revision),
  active_digest   text, -- of the package; null: the newest package of the revision
  activated_at    timestamptz(3),
  created_by      text NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT active_has_activated_at CHECK ((active_revision IS NULL) = (activated_at IS NULL))
);
CREATE INDEX ON control.sandboxes (project);

CREATE TABLE control.revisions (
  sandbox       text NOT NULL REFERENCES control.sandboxes,
  number        integer NOT NULL CHECK (number >= 1),
  draft         boolean NOT NULL,
  base_revision integer,
  graph         bytea NOT NULL,
  problems      bytea NOT NULL,
  warnings      bytea NOT NULL DEFAULT '[]'::bytea,
  digest        text CHECK (digest ~ '^[0-9a-f]{64}$'), -- null, like the package: the graph has problems
  package       bytea,
  manifest      text[] NOT NULL DEFAULT '{}',
  paid_nodes    integer NOT NULL DEFAULT 0 CHECK (paid_nodes BETWEEN 0 AND 8),
  chat_input    text, -- the one text field on each side; null: the contract is not chat-compatible (rules §3.9)
  chat_output   text,
  created_by    text NOT NULL,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (sandbox, number),
  CONSTRAINT digest_has_package CHECK ((digest IS NULL) = (package IS NULL)),
  CONSTRAINT chat_fields_in_pairs CHECK ((chat_input IS NULL) = (chat_output IS NULL))
);
ALTER TABLE control.sandboxes ADD FOREIGN KEY (id, active_revision) REFERENCES control.revisions (sandbox, number);

-- What an activation builds. It is its own record, so that a saved revision never changes (flows §3.1). An
-- execution names the package it started with and keeps it, no matter what is activated later.
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
  CONSTRAINT chat_fields_in_pairs CHECK ((chat_input IS NULL) = (chat_output IS NULL))
);

----------------------------------------------------------------------------------------------- wallets and windows

-- fillfactor 50 here and below: rows that change with every batch stay in their page (HOT) if it is half empty.
-- Autovacuum: each batch leaves as many dead rows as it changes. These tables are small, so it may run often; how often
-- it looks is a setting of the server (docs/operating.md, "Postgres").
CREATE TABLE money.wallets (
  project         text PRIMARY KEY,
  funded          bigint NOT NULL DEFAULT 0,
  reserved        bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  settled         bigint NOT NULL DEFAULT 0 CHECK (settled >= 0),
  journal_seq     bigint NOT NULL DEFAULT 0,
  seal            bytea NOT NULL DEFAULT '\x'::bytea,
  -- Thresholds that the project wants notices for (money §10); null: none. `notice_below` is in micro-USD, highest
  -- first; `notice_percents` applies to every spending window, lowest first. So the first item decides in one
  -- comparison that no threshold can be crossed.
  notice_below    bigint[],
  notice_percents integer[],
  CONSTRAINT within_funds CHECK (settled + reserved <= funded)
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);

CREATE TABLE money.meters (
  lineage      text PRIMARY KEY,
  project      text NOT NULL,
  window_start timestamptz(3) NOT NULL,
  limit_micro  bigint NOT NULL,
  spent        bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
  reserved     bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  CONSTRAINT within_limit CHECK (spent + reserved <= limit_micro)
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX ON money.meters (project);

-- What an organization lets its users, teams and tags spend each month (money §6.4), and what they have spent and
-- reserved in the current one. A removed budget keeps its row, because open reservations name it.
CREATE TABLE money.budgets (
  id           text PRIMARY KEY,
  tenant       text NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('user', 'team', 'tag')),
  subject      text NOT NULL, -- the id of the user or team, or the tag
  target       text UNIQUE, -- tenant, kind and subject, as money.budget_targets joins them; null: removed
  limit_micro  bigint NOT NULL CHECK (limit_micro BETWEEN 1 AND 9007199254740991),
  is_hard      boolean NOT NULL, -- false: it is only reported
  window_start timestamptz(3) NOT NULL,
  spent        bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
  reserved     bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  created_by   text NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  removed_at   timestamptz(3)
) WITH (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX ON money.budgets (tenant);

CREATE TABLE money.fundings (
  project    text NOT NULL,
  funding_id text NOT NULL,
  micro      bigint NOT NULL CHECK (micro BETWEEN 1 AND 9007199254740991),
  funded_by  text NOT NULL,
  at         timestamptz(3) NOT NULL,
  PRIMARY KEY (project, funding_id)
);
CREATE INDEX ON money.fundings (project, at);

-- Money funded or charged by mistake is adjusted by its own entry (money §5.4).
CREATE TABLE money.corrections (
  project       text NOT NULL,
  correction_id text NOT NULL,
  micro         bigint NOT NULL CHECK (micro <> 0 AND abs(micro) <= 9007199254740991),
  reason        text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  corrected_by  text NOT NULL,
  at            timestamptz(3) NOT NULL,
  PRIMARY KEY (project, correction_id)
);
CREATE INDEX ON money.corrections (project, at);

-------------------------------------------------------------------------------------------------------- instances

-- Processes that work under reservations and leases, one row for each start of a process.
CREATE TABLE money.instances (
  id            text PRIMARY KEY,
  service       text NOT NULL,
  started_at    timestamptz(3) NOT NULL,
  heartbeat_at  timestamptz(3) NOT NULL,
  dead_after_ms integer NOT NULL CHECK (dead_after_ms BETWEEN 1000 AND 60000),
  monitor       text, -- the replica that took the last heartbeat, and the only one that may declare it dead
  watched_from  timestamptz(3), -- silence before this does not count
  ended_at      timestamptz(3)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
-- The live instances of one monitor, so that its poll reads no ended ones.
CREATE INDEX instances_alive ON money.instances (monitor) WHERE ended_at IS NULL;

-- One row for each start of a ledger replica. The rules are in prisma/functions/money/monitor_instances.sql.
CREATE TABLE money.instance_monitors (
  id        text PRIMARY KEY,
  looked_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50);

------------------------------------------------------------------------------------------------------------ calls

-- Open reservations only, so the table stays as small as what is in flight.
CREATE TABLE money.reservations (
  id              text PRIMARY KEY,
  invocation      text NOT NULL,
  attempt         integer NOT NULL CHECK (attempt >= 1),
  project         text NOT NULL,
  key             text NOT NULL,
  lineage         text NOT NULL,
  window_start    timestamptz(3),
  product         text NOT NULL,
  instance        text NOT NULL,
  micro           bigint NOT NULL CHECK (micro >= 0),
  output_cap      integer NOT NULL,
  prompt_bound    bigint, -- usage above it raises the factor of the product
  prompt_pico     bigint NOT NULL, -- this and the other prices: as of the admission
  completion_pico bigint NOT NULL,
  request_pico    bigint NOT NULL,
  cached_pico     bigint,
  reasoning_pico  bigint,
  cache_write_pico bigint,
  keyed           boolean NOT NULL,
  admitted_at     timestamptz(3) NOT NULL,
  deadline_at     timestamptz(3) NOT NULL,
  execution       text, -- of a node's call; null: a direct call
  node            text,
  tag             text, -- of the caller; null: none
  budgets         text[], -- that it counts towards, in the order of their ids; null: none
  budget_windows  timestamptz(3)[], -- the window of each of these budgets
  CONSTRAINT node_of_execution CHECK ((execution IS NULL) = (node IS NULL))
) WITH (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);
CREATE UNIQUE INDEX one_reservation_a_node ON money.reservations (execution, node) WHERE execution IS NOT NULL;
CREATE INDEX ON money.reservations (project, invocation);
CREATE INDEX ON money.reservations (instance);
CREATE INDEX direct_calls_by_deadline ON money.reservations (deadline_at) WHERE execution IS NULL;

-- The tables from here to execution_nodes that are PARTITION BY grow with every call and are partitioned by time: the
-- usage records and the journal by month, executions and their nodes by week, saved answers by day. An id begins with
-- its time, so a table that is read by id is partitioned by id and keeps its primary key.
--   - Rows outside every other partition go to the default partition, `<table>_unplanned`.
--   - money.make_partition creates partitions ahead of time.
--   - Ids that bound partitions are compared byte by byte, as Postgres orders partitions: COLLATE "C".

-- Closed reservations, each an attempt under an invocation: the usage records, never updated. That a node is charged
-- once is not an index here, since it would have to span partitions; it is `charge` in the node's row.
CREATE TABLE money.attempts (
  id                text COLLATE "C" PRIMARY KEY,
  invocation        text NOT NULL,
  attempt           integer NOT NULL,
  state             text NOT NULL CHECK (state IN ('Settled', 'Released')),
  project           text,
  key               text,
  lineage           text,
  window_start      timestamptz(3),
  product           text,
  instance          text,
  reserved_micro    bigint NOT NULL DEFAULT 0,
  charged_micro     bigint NOT NULL DEFAULT 0
                      CONSTRAINT charged_within_reserved CHECK (charged_micro BETWEEN 0 AND reserved_micro),
  prompt_pico       bigint NOT NULL DEFAULT 0,
  completion_pico   bigint NOT NULL DEFAULT 0,
  request_pico      bigint NOT NULL DEFAULT 0,
  cached_pico       bigint,
  reasoning_pico    bigint,
  cache_write_pico  bigint,
  prompt_tokens     integer,
  completion_tokens integer,
  cached_tokens     integer, -- of the prompt; null: the provider did not report it
  reasoning_tokens  integer, -- of the completion; null: the provider did not report it
  cache_write_tokens integer, -- of the prompt; null: the provider did not report it
  estimated         boolean NOT NULL DEFAULT false,
  reason            text,
  answer_day        date,
  admitted_at       timestamptz(3),
  closed_at         timestamptz(3) NOT NULL,
  execution         text, -- of a node's call; null: a direct call
  node              text,
  tag               text, -- of the caller; null: none
  budgets           text[], -- that it counted towards; null: none
  budget_windows    timestamptz(3)[], -- the window of each of these budgets
  first_token_ms    integer, -- from the admission; null: not streamed, or not recorded
  tries             text, -- at providers, JSON text; null: not recorded
  cost_pico         bigint CHECK (cost_pico >= 0), -- what the provider charges for it; null: unknown
  CONSTRAINT only_settled_is_charged CHECK (state = 'Settled' OR charged_micro = 0),
  CONSTRAINT settled_has_project CHECK (project IS NOT NULL OR state = 'Released'),
  CONSTRAINT node_of_execution CHECK ((execution IS NULL) = (node IS NULL))
) PARTITION BY RANGE (id);
CREATE INDEX ON money.attempts (project, admitted_at);
CREATE INDEX ON money.attempts (key, admitted_at);
CREATE INDEX later_attempts ON money.attempts (invocation) WHERE attempt > 1;
CREATE INDEX attempts_of_nodes ON money.attempts (execution) WHERE execution IS NOT NULL;

-- No index can make (project, seq) unique across partitions. The number comes from the wallet's row under its lock, and
-- the check of the books verifies it. The same holds for (project, last_seq) of the blocks.
CREATE TABLE money.journal (
  project   text NOT NULL,
  seq       bigint NOT NULL,
  kind      text NOT NULL CHECK (kind IN ('fund', 'correct', 'reserve', 'settle', 'release')),
  reference text NOT NULL,
  available bigint NOT NULL,
  reserved  bigint NOT NULL,
  settled   bigint NOT NULL,
  outside   bigint NOT NULL,
  at        timestamptz(3) NOT NULL,
  PRIMARY KEY (project, seq, at),
  CONSTRAINT balanced CHECK (available + reserved + settled + outside = 0)
) PARTITION BY RANGE (at);

CREATE TABLE money.journal_blocks (
  project  text NOT NULL,
  last_seq bigint NOT NULL,
  seal     bytea NOT NULL,
  at       timestamptz(3) NOT NULL DEFAULT now(), -- of its entries
  PRIMARY KEY (project, last_seq, at)
) PARTITION BY RANGE (at);

-- Served but not charged: usage above the reservation (excess), or an answer after its end (fenced).
CREATE TABLE money.write_offs (
  reservation text NOT NULL,
  kind        text NOT NULL CHECK (kind IN ('excess', 'fenced')),
  micro       bigint NOT NULL CHECK (micro >= 0),
  product     text,
  at          timestamptz(3) NOT NULL,
  PRIMARY KEY (reservation, kind)
);

CREATE TABLE money.idempotency_keys (
  project     text NOT NULL,
  scope       text NOT NULL, -- `chat`, also for flows called as models (rules §5.1), or the id of a sandbox
  key         text NOT NULL,
  fingerprint bytea NOT NULL,
  invocation  text NOT NULL,
  reservation text NOT NULL,
  created_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (project, scope, key)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX ON money.idempotency_keys (created_at);

-- Saved answers. Retention drops a partition.
CREATE TABLE money.answers (
  day          date NOT NULL,
  reservation  text NOT NULL,
  content_type text NOT NULL,
  body         bytea NOT NULL,
  PRIMARY KEY (day, reservation)
) PARTITION BY RANGE (day);

CREATE TABLE money.key_uses (
  key          text PRIMARY KEY,
  last_used_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- Settlements and completions that Postgres keeps rejecting for a technical reason, kept until they can be written
-- (services/ledger/src/quarantine).
CREATE TABLE money.quarantined_items (
  name        text PRIMARY KEY, -- the reservation of a settlement, or the node's lease of a completion
  project     text, -- null: it could not be looked up
  item        bytea NOT NULL, -- as sent; may contain a response
  error       text NOT NULL, -- the message from Postgres
  tries       integer NOT NULL DEFAULT 0,
  kept_at     timestamptz(3) NOT NULL,
  next_try_at timestamptz(3) NOT NULL
);
CREATE INDEX ON money.quarantined_items (next_try_at);

------------------------------------------------------------------------------------------------------- executions

-- Started by a key or by a user in the console. Calls of its nodes go by the key's lineage, so a rotation does not
-- stop it.
CREATE TABLE money.executions (
  id           text COLLATE "C" PRIMARY KEY,
  project      text NOT NULL,
  sandbox      text NOT NULL,
  revision     integer NOT NULL,
  digest       text, -- of its package; null: the package saved with the revision
  key          text,
  lineage      text,
  user_id       text,
  surface      text NOT NULL CHECK (surface IN ('invoke', 'chat')),
  rerun_of     text COLLATE "C", -- the execution whose results it takes over (flows §4.12); null: none
  max_micro    bigint CHECK (max_micro >= 0), -- its ceiling (money §7.5); null: the wallet and the key's limit alone
  status       text NOT NULL CHECK (status IN ('Admitted', 'Running', 'Succeeded', 'Failed', 'Cancelled')),
  version      integer NOT NULL DEFAULT 0, -- of the execution and its nodes together: rises with each change
  seq          integer NOT NULL DEFAULT 0, -- of its newest progress line
  output       bytea,
  error        bytea, -- set when it starts to fail; it is Failed once none of its nodes is Running
  traceparent  text,
  tracestate   text,
  created_at   timestamptz(3) NOT NULL,
  started_at   timestamptz(3), -- the first claim of a node
  deadline_at  timestamptz(3) NOT NULL, -- of the first claim; then of the execution; then of the nodes that outlast it
  completed_at timestamptz(3),
  tag          text, -- of its calls; null: none
  CONSTRAINT started_by_key_or_user
    CHECK ((key IS NULL) = (lineage IS NULL) AND (key IS NULL) <> (user_id IS NULL)),
  CONSTRAINT ended_has_completed_at
    CHECK ((status IN ('Succeeded', 'Failed', 'Cancelled')) = (completed_at IS NOT NULL)),
  CONSTRAINT failed_has_error CHECK (status NOT IN ('Failed', 'Cancelled') OR error IS NOT NULL),
  CONSTRAINT succeeded_has_output CHECK (status <> 'Succeeded' OR output IS NOT NULL)
) PARTITION BY RANGE (id);
CREATE INDEX ON money.executions (deadline_at) WHERE completed_at IS NULL;
CREATE INDEX ON money.executions (project) WHERE completed_at IS NULL;
CREATE INDEX executions_that_fail ON money.executions (id) WHERE completed_at IS NULL AND error IS NOT NULL;
CREATE INDEX ON money.executions (completed_at) WHERE completed_at IS NOT NULL; -- for retention
-- The console lists the executions of a flow or of a project (services/console/src/executions/executions.ts).
CREATE INDEX ON money.executions (sandbox, created_at);
CREATE INDEX ON money.executions (project, created_at);

-- No foreign key to executions: both are written by one statement, and their partitions are dropped together.
CREATE TABLE money.execution_nodes (
  execution    text COLLATE "C" NOT NULL,
  ordinal      integer NOT NULL, -- in the order of the graph
  node         text NOT NULL,
  kind         text NOT NULL,
  project      text NOT NULL,
  sources      integer[] NOT NULL, -- ordinals of the nodes that its inputs come from
  state        text NOT NULL CHECK (state IN ('Pending', 'Ready', 'Running', 'Succeeded', 'Failed', 'Skipped')),
  attempt      integer NOT NULL DEFAULT 1, -- rises whenever a lease ends without a result
  deaths       integer NOT NULL DEFAULT 0, -- leases that ended because their instance did
  seq          integer, -- of its progress line
  ports        text, -- the output ports that have a value: a JSON list
  output       bytea,
  error        bytea,
  taken_over   boolean NOT NULL DEFAULT false, -- its result is that of the earlier execution
  instance     text, -- the one that runs it or ran it
  lease        text, -- kept with the result, so that a repeated `complete` is recognised
  call         text, -- the invocation of its paid call, the same for each attempt
  reservation  text, -- of this attempt
  charge       text, -- the attempt it was charged for; set once
  enqueued_at  timestamptz(3), -- when it was last enqueued
  claimed_at   timestamptz(3),
  completed_at timestamptz(3),
  duration_ms  integer,
  remote_ms    integer,
  PRIMARY KEY (execution, ordinal),
  CONSTRAINT lease_has_instance CHECK ((lease IS NULL) = (instance IS NULL)),
  CONSTRAINT running_has_lease CHECK (state <> 'Running' OR lease IS NOT NULL),
  CONSTRAINT waiting_has_no_lease CHECK (state NOT IN ('Pending', 'Ready', 'Skipped') OR lease IS NULL),
  CONSTRAINT ended_has_seq CHECK ((state IN ('Succeeded', 'Failed')) = (seq IS NOT NULL)),
  CONSTRAINT succeeded_has_output CHECK (state <> 'Succeeded' OR output IS NOT NULL AND ports IS NOT NULL),
  CONSTRAINT failed_has_error CHECK ((state = 'Failed') = (error IS NOT NULL))
) PARTITION BY RANGE (execution);
CREATE INDEX ON money.execution_nodes (instance) WHERE state = 'Running';
CREATE INDEX ON money.execution_nodes (project, execution) WHERE state = 'Ready' AND enqueued_at IS NULL;
CREATE INDEX ON money.execution_nodes (project, enqueued_at)
  WHERE state IN ('Ready', 'Running') AND enqueued_at IS NOT NULL;

----------------------------------------------------------------------------------------------------------- assets

-- A deleted asset is marked first; then its bytes are removed, and then its row
-- (services/ledger/src/assets/assets.ts).
CREATE TABLE money.assets (
  id         text PRIMARY KEY,
  project    text NOT NULL,
  mime_type  text NOT NULL,
  bytes      integer NOT NULL CHECK (bytes > 0),
  execution  text, -- the one that created it; null: it was uploaded
  sandbox    text, -- the flow of that execution, whose record may be deleted earlier
  key        text, -- the key that uploaded it
  user_id     text, -- the user who uploaded it in the console
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  deleted_at timestamptz(3),
  CONSTRAINT created_has_sandbox CHECK ((execution IS NULL) = (sandbox IS NULL))
);
CREATE INDEX ON money.assets (project, created_at);
CREATE INDEX assets_there ON money.assets (project, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX assets_deleted ON money.assets (deleted_at) WHERE deleted_at IS NOT NULL;

-- Storage use of a project, including deleted assets whose bytes still exist (money.count_assets).
CREATE TABLE money.asset_usage (
  project text PRIMARY KEY,
  assets  bigint NOT NULL CHECK (assets >= 0),
  bytes   bigint NOT NULL CHECK (bytes >= 0)
);

-- Bytes of stored execution values of a project, per day on which they were recorded.
CREATE TABLE money.execution_usage (
  project text NOT NULL,
  day     date NOT NULL,
  bytes   bigint NOT NULL CHECK (bytes >= 0),
  PRIMARY KEY (project, day)
);
CREATE INDEX ON money.execution_usage (day);

------------------------------------------------------------------------------------------- usage and statements

-- Usage by hour and by day, rolled up from the journal (money §9.2, §9.6) and kept forever. By one dimension at a time, so
-- that a report reads the rows of its groups alone; the group of a dimension comes before the time in the key, so that a
-- group's rows lie together.
-- fillfactor 80 here and below: only the rows of the current hour or day change.
CREATE TABLE money.usage_hours (
  project           text NOT NULL,
  dimension         text NOT NULL CHECK (dimension IN ('all', 'model', 'key', 'user', 'sandbox', 'tag')),
  name              text NOT NULL, -- of the group in that dimension; empty: without one
  hour              timestamptz(3) NOT NULL CHECK (hour = date_trunc('hour', hour, 'UTC')), -- of the admission
  calls             bigint NOT NULL CHECK (calls >= 0), -- settled ones
  prompt_tokens     bigint NOT NULL CHECK (prompt_tokens >= 0),
  completion_tokens bigint NOT NULL CHECK (completion_tokens >= 0),
  micro             bigint NOT NULL CHECK (micro >= 0),
  max_micro         bigint NOT NULL DEFAULT 0 CHECK (max_micro BETWEEN 0 AND micro), -- the largest charge
  costed_calls      bigint NOT NULL DEFAULT 0 CHECK (costed_calls BETWEEN 0 AND calls), -- with a known cost
  costed_micro      bigint NOT NULL DEFAULT 0 CHECK (costed_micro BETWEEN 0 AND micro), -- what these were charged
  cost_pico         numeric(38) NOT NULL DEFAULT 0 CHECK (cost_pico >= 0), -- what their providers charge
  errors            bigint NOT NULL DEFAULT 0 CHECK (errors >= 0), -- released calls
  durations         bytea NOT NULL CHECK (length(durations) % 6 = 0), -- of settled calls: see money.pack_histogram
  first_tokens      bytea NOT NULL CHECK (length(first_tokens) % 6 = 0), -- of streamed ones among them
  PRIMARY KEY (project, dimension, name, hour)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);

CREATE TABLE money.usage_days (
  project           text NOT NULL,
  dimension         text NOT NULL CHECK (dimension IN ('all', 'model', 'key', 'user', 'sandbox', 'tag')),
  name              text NOT NULL, -- of the group in that dimension; empty: without one
  day               timestamptz(3) NOT NULL CHECK (day = date_trunc('day', day, 'UTC')), -- of the admission
  calls             bigint NOT NULL CHECK (calls >= 0), -- settled ones
  prompt_tokens     bigint NOT NULL CHECK (prompt_tokens >= 0),
  completion_tokens bigint NOT NULL CHECK (completion_tokens >= 0),
  micro             bigint NOT NULL CHECK (micro >= 0),
  costed_calls      bigint NOT NULL DEFAULT 0 CHECK (costed_calls BETWEEN 0 AND calls), -- with a known cost
  costed_micro      bigint NOT NULL DEFAULT 0 CHECK (costed_micro BETWEEN 0 AND micro), -- what these were charged
  cost_pico         numeric(38) NOT NULL DEFAULT 0 CHECK (cost_pico >= 0), -- what their providers charge
  errors            bigint NOT NULL DEFAULT 0 CHECK (errors >= 0), -- released calls
  durations         bytea NOT NULL CHECK (length(durations) % 6 = 0), -- of settled calls: see money.pack_histogram
  first_tokens      bytea NOT NULL CHECK (length(first_tokens) % 6 = 0), -- of streamed ones among them
  PRIMARY KEY (project, dimension, name, day)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX ON money.usage_days (dimension, day); -- of all projects, for operators

-- Usage of all projects by month, for the revenue report (rules §7.13): the sum of the days. Kept forever. Only the
-- roll-up writes it, one at a time, so no call ever waits for its few rows.
CREATE TABLE money.product_months (
  month             date NOT NULL CHECK (month = date_trunc('month', month)), -- of the admission, UTC
  product           text NOT NULL,
  calls             bigint NOT NULL CHECK (calls > 0),
  prompt_tokens     bigint NOT NULL CHECK (prompt_tokens >= 0),
  completion_tokens bigint NOT NULL CHECK (completion_tokens >= 0),
  micro             bigint NOT NULL CHECK (micro >= 0),
  costed_calls      bigint NOT NULL CHECK (costed_calls BETWEEN 0 AND calls),
  costed_micro      bigint NOT NULL CHECK (costed_micro BETWEEN 0 AND micro),
  cost_pico         numeric(38) NOT NULL CHECK (cost_pico >= 0),
  PRIMARY KEY (month, product)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- The journal by the day its entries were written, so that a statement reads few rows, also for archived months
-- (money §9.5). Kept forever.
CREATE TABLE money.journal_days (
  project  text NOT NULL,
  day      date NOT NULL, -- UTC
  kind     text NOT NULL CHECK (kind IN ('opening', 'fund', 'correct', 'reserve', 'settle', 'release')),
  product  text NOT NULL, -- of settlements; otherwise empty
  entries  bigint NOT NULL CHECK (entries > 0),
  reserved bigint NOT NULL, -- this and the next two: sums over the entries
  settled  bigint NOT NULL,
  outside  bigint NOT NULL,
  tag      text NOT NULL DEFAULT '', -- of settlements, if their caller has one; otherwise empty
  PRIMARY KEY (project, day, kind, product, tag)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);

-- The journal entry up to which a project is rolled up into the tables above.
CREATE TABLE money.usage_positions (
  project text PRIMARY KEY,
  seq     bigint NOT NULL,
  at      timestamptz(3) NOT NULL, -- of the newest entry so far
  micro   bigint NOT NULL -- settled by the entries up to seq
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

------------------------------------------------------------------------------------------- the check of the books

-- The position up to which the check has folded a wallet's journal.
CREATE TABLE money.checked_wallets (
  project    text PRIMARY KEY,
  seq        bigint NOT NULL,
  funded     bigint NOT NULL,
  reserved   bigint NOT NULL,
  settled    bigint NOT NULL,
  seal       bytea NOT NULL,
  checked_at timestamptz(3) NOT NULL,
  findings   text NOT NULL DEFAULT '[]', -- JSON: what did not add up, checked again until it does
  at         timestamptz(3) -- of the entry `seq`, so that the next check reads no partition before it
);
CREATE INDEX ON money.checked_wallets (checked_at);

CREATE TABLE money.checked_meters (
  project      text NOT NULL,
  lineage      text NOT NULL, -- of a key, or the ID of a budget
  window_start timestamptz(3) NOT NULL,
  spent        bigint NOT NULL,
  PRIMARY KEY (project, lineage, window_start)
);
CREATE INDEX ON money.checked_meters (lineage); -- budgets span projects

-- The position of the check that reads older parts of the journals again.
CREATE TABLE money.rechecked_wallets (
  project  text PRIMARY KEY,
  seq      bigint NOT NULL, -- 0: starts from the first entry
  seal     bytea NOT NULL, -- of that entry
  findings integer NOT NULL, -- at that entry; it stays there until they are fixed
  failed   boolean NOT NULL, -- the last recheck, which is retried
  at       timestamptz(3) NOT NULL
);
CREATE INDEX ON money.rechecked_wallets (at);

-- The state of the books at a moment, as one hash that is also published outside the database (money §9.3).
CREATE TABLE money.anchors (
  number  bigint PRIMARY KEY,
  at      timestamptz(3) NOT NULL,
  wallets integer NOT NULL,
  root    bytea NOT NULL CHECK (octet_length(root) = 32)
);

-- The journal entry of a wallet that an anchor reaches up to. A wallet has a row for each anchor before which it moved,
-- so the newest row up to an anchor counts. The rows only help to find the entries; the hash proves them.
CREATE TABLE money.anchored_heads (
  project text NOT NULL,
  anchor  bigint NOT NULL,
  seq     bigint NOT NULL,
  seal    bytea NOT NULL,
  PRIMARY KEY (project, anchor)
);

-- Months of the books that were written to files (money §9.4). Only the owner's login writes this and the next table,
-- because only the owner may drop a partition.
CREATE TABLE money.archives (
  month    date PRIMARY KEY CHECK (extract(day FROM month) = 1), -- its first day
  manifest bytea NOT NULL CHECK (octet_length(manifest) = 32), -- SHA-256 of the file that names all others
  folder   text NOT NULL, -- as given to the command
  entries  bigint NOT NULL, -- of the journal
  attempts date[] NOT NULL, -- the months whose usage records are in this archive
  at       timestamptz(3) NOT NULL
);

-- The newest archived entry of each wallet: the check of the books starts after it.
CREATE TABLE money.archived_wallets (
  project  text PRIMARY KEY,
  month    date NOT NULL, -- the newest archived month in which the wallet moved
  seq      bigint NOT NULL,
  at       timestamptz(3) NOT NULL, -- no archived entry of the wallet is later
  funded   bigint NOT NULL,
  reserved bigint NOT NULL,
  settled  bigint NOT NULL,
  seal     bytea NOT NULL,
  windows  text NOT NULL -- JSON: lineage, start and spending of the windows that a meter may still have
);

--------------------------------------------------------------------------------------------------------- refusals

-- Refusals, reported by the gateways from time to time. Some may be lost; no money depends on them.
CREATE TABLE money.refusal_hours (
  project text NOT NULL,
  hour    timestamptz(3) NOT NULL CHECK (hour = date_trunc('hour', hour, 'UTC')),
  key     text NOT NULL,
  code    text NOT NULL,
  count   bigint NOT NULL CHECK (count > 0),
  PRIMARY KEY (project, hour, key, code)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX ON money.refusal_hours (hour);

CREATE TABLE money.latest_refusals (
  project text NOT NULL,
  at      timestamptz(3) NOT NULL,
  request text NOT NULL, -- the X-Request-Id of the response
  key     text NOT NULL,
  model   text CHECK (char_length(model) <= 128), -- as named by the caller; null: it was not read
  code    text NOT NULL,
  PRIMARY KEY (project, at, request)
);
CREATE INDEX ON money.latest_refusals (at);

-- The newest report of each gateway, so that a repeated report is recognised.
CREATE TABLE money.refusal_senders (
  sender text PRIMARY KEY,
  report integer NOT NULL,
  at     timestamptz(3) NOT NULL
) WITH (fillfactor = 50);

-- Prompts and answers of projects that capture them, encrypted for the console (rules §7.11).
CREATE TABLE money.captured_content (
  invocation text PRIMARY KEY,
  project    text NOT NULL,
  at         timestamptz(3) NOT NULL,
  sealed     text NOT NULL -- JWE
);
ALTER TABLE money.captured_content ALTER COLUMN sealed SET STORAGE EXTERNAL; -- what is encrypted does not compress
CREATE INDEX ON money.captured_content (project, at);

------------------------------------------------------------------------------------------------------- providers

-- What gateways and workers saw of their providers, reported from time to time. Some may be lost; no money depends on it.
CREATE TABLE money.provider_slots (
  slot      timestamptz(3) NOT NULL CHECK (slot = date_bin('5 minutes', slot, 'epoch')),
  provider  text NOT NULL,
  model     text NOT NULL,
  product   text NOT NULL,
  answered  bigint NOT NULL,
  cut       bigint NOT NULL, -- of the answered ones: broken off after the first chunk
  failed    bigint NOT NULL,
  rejected  bigint NOT NULL, -- refused because of the request itself
  fallbacks bigint NOT NULL, -- calls that another provider answered instead
  latency   bigint[] NOT NULL, -- answered calls by bucket
  PRIMARY KEY (slot, provider, model, product)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

CREATE TABLE money.provider_failures (
  provider   text NOT NULL,
  at         timestamptz(3) NOT NULL,
  id         text NOT NULL,
  model      text NOT NULL,
  product    text NOT NULL,
  project    text NOT NULL,
  invocation text NOT NULL,
  kind       text NOT NULL,
  status     integer, -- HTTP status of the provider
  code       text, -- the provider's own error code
  PRIMARY KEY (provider, at, id)
);

CREATE TABLE money.provider_senders (
  sender     text PRIMARY KEY,
  service    text NOT NULL CHECK (service IN ('gateway', 'worker')),
  report     integer NOT NULL,
  started_at timestamptz(3) NOT NULL,
  at         timestamptz(3) NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE money.provider_states (
  sender        text NOT NULL,
  provider      text NOT NULL,
  kind          text NOT NULL,
  credential    text NOT NULL CHECK (credential IN ('configuration', 'environment', 'file', 'aws_chain', 'none')),
  credential_at timestamptz(3), -- when the file of its key was changed; null: the key is from elsewhere
  circuit       text NOT NULL CHECK (circuit IN ('closed', 'half-open', 'open')),
  circuit_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (sender, provider)
) WITH (fillfactor = 50);

--------------------------------------------------------------------------------------------- notices and webhooks

-- Projects that want a notice when their runway is shorter than this many days (money §10).
CREATE TABLE money.days_left_thresholds (
  project text PRIMARY KEY,
  days    integer NOT NULL CHECK (days BETWEEN 1 AND 365),
  notified boolean NOT NULL DEFAULT false -- the runway is shorter, and the notice was written
);

-- One row for each threshold crossing, written in the transaction that crosses it, and for each other event.
CREATE TABLE money.notices (
  id              text PRIMARY KEY,
  project         text NOT NULL,
  kind            text NOT NULL CHECK (kind IN (
                    'wallet.below', 'wallet.days_left', 'key.percent',
                    'key.rotated', 'key.leaked', 'token.leaked', 'webhook.failing', 'webhook.test', 'budget.percent')),
  threshold       bigint, -- micro-USD, days or percent; null: it is not about a threshold
  remaining_micro bigint, -- of a wallet: funded less settled, after the crossing
  key             text, -- for a spending window: the key that crossed the threshold, and the window of its lineage
  lineage         text,
  window_start    timestamptz(3),
  limit_micro     bigint,
  spent_micro     bigint,
  details         jsonb NOT NULL DEFAULT '{}', -- of an event, by kind (packages/api/src/console/notices.ts)
  at              timestamptz(3) NOT NULL,
  CONSTRAINT crossing_has_threshold CHECK (
    (kind IN ('wallet.below', 'wallet.days_left', 'key.percent', 'budget.percent')) = (threshold IS NOT NULL))
);
CREATE INDEX ON money.notices (project, at, id);
CREATE INDEX ON money.notices (at);

-- Where notices are sent (money §10.2). The id of a destination by mail starts with eml_, so that a delivery says who
-- takes it: a worker, or the console, which has the mail server.
CREATE TABLE money.webhooks (
  id         text PRIMARY KEY,
  project    text NOT NULL,
  kind       text NOT NULL DEFAULT 'standard' CHECK (kind IN ('standard', 'slack', 'email')),
  url        text CHECK (char_length(url) <= 2048), -- null: by mail
  recipient  text, -- the user who gets the mail; null: the Project Owners at that time
  -- The operator's key that its secret is derived from, and the number of the secret. No secret is stored. Null: what it
  -- gets is not signed.
  secret_key text,
  generation integer NOT NULL DEFAULT 1,
  earlier_secrets jsonb NOT NULL DEFAULT '[]', -- [{ secretKey, generation, until }]: they also sign until then
  failing_since timestamptz(3), -- a delivery was given up, and none has succeeded since
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT destination_fits_kind CHECK (
    (kind = 'email') = (url IS NULL) AND (kind = 'email') = (left(id, 4) = 'eml_')
    AND (kind = 'standard') = (secret_key IS NOT NULL) AND (kind = 'email' OR recipient IS NULL))
);
CREATE INDEX ON money.webhooks (project);

-- One row for each notice and each webhook its project had at that time. No foreign keys, so that no settlement waits
-- for the deletion of a webhook.
CREATE TABLE money.webhook_deliveries (
  notice      text NOT NULL,
  webhook     text NOT NULL,
  state       text NOT NULL DEFAULT 'Pending' CHECK (state IN ('Pending', 'Delivered', 'Dead')),
  tries       integer NOT NULL DEFAULT 0,
  next_try_at timestamptz(3) NOT NULL, -- during a try: when that try counts as lost
  status      integer, -- of the last response
  error       text, -- why there was no response
  ended_at    timestamptz(3),
  PRIMARY KEY (notice, webhook)
) WITH (fillfactor = 80);
CREATE INDEX pending_deliveries ON money.webhook_deliveries (webhook, next_try_at) WHERE state = 'Pending';
-- Due deliveries are found by time, those by mail separately. Webhooks with pending ones take turns in the order of
-- their reversed ids, whose last characters are random (services/ledger/src/webhooks/deliveries.ts).
CREATE INDEX due_deliveries ON money.webhook_deliveries (left(webhook, 4), next_try_at) WHERE state = 'Pending';
CREATE INDEX webhooks_with_pending ON money.webhook_deliveries (left(webhook, 4), reverse(webhook))
  WHERE state = 'Pending';

-------------------------------------------------------------------------------------------- receipts of admissions

-- Signs the receipts of admissions, for all replicas. One row, never changed; the same after a failover or a restore.
CREATE TABLE money.receipt_secret (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  secret  bytea NOT NULL CHECK (octet_length(secret) = 32)
);
INSERT INTO money.receipt_secret (secret)
VALUES (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

------------------------------------------------------------------------------------------------ maintenance jobs

-- Jobs that one replica runs for all.
CREATE TABLE money.maintenance_turns (
  job     text PRIMARY KEY,
  replica text NOT NULL, -- the one that has the turn, or had the last one
  until   timestamptz(3) NOT NULL,
  done_at timestamptz(3), -- this and the report: of the last turn that ended, for the metrics of all replicas
  report  text
);

------------------------------------------------------------------------------------------------------- partitions

CREATE TABLE money.answers_unplanned PARTITION OF money.answers DEFAULT;
CREATE TABLE money.attempts_unplanned PARTITION OF money.attempts DEFAULT;
CREATE TABLE money.journal_unplanned PARTITION OF money.journal DEFAULT;
CREATE TABLE money.journal_blocks_unplanned PARTITION OF money.journal_blocks DEFAULT;
CREATE TABLE money.executions_unplanned PARTITION OF money.executions DEFAULT
  WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
CREATE TABLE money.execution_nodes_unplanned PARTITION OF money.execution_nodes DEFAULT
  WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- As prisma/functions/money/id_bound.sql, which is applied after this file.
CREATE FUNCTION pg_temp.id_bound(prefix text, moment timestamptz) RETURNS text LANGUAGE sql AS $$
  SELECT prefix || '_' || string_agg(
           substr('0123456789abcdefghjkmnpqrstvwxyz', ((ms >> (5 * n)) & 31)::integer + 1, 1), '' ORDER BY n DESC)
    FROM (SELECT floor(extract(epoch FROM moment) * 1000)::bigint AS ms) t, generate_series(0, 9) n
$$;

-- From today to two months, or five weeks, from now. Later ones, and those of answers, are made by the ledger.
DO $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  part record;
BEGIN
  FOR part IN
    WITH month AS (
      SELECT m AS starts, m + interval '1 month' AS ends
        FROM generate_series(
          date_trunc('month', today::timestamp), today + interval '2 months', interval '1 month') m
    ), week AS (
      SELECT w AS starts, w + interval '1 week' AS ends
        FROM generate_series(date_trunc('week', today::timestamp), today + interval '5 weeks', interval '1 week') w
    )
    SELECT name, starts, '' AS options,
           pg_temp.id_bound('inv', starts AT TIME ZONE 'UTC') AS lower,
           pg_temp.id_bound('inv', ends AT TIME ZONE 'UTC') AS upper
      FROM month, unnest(ARRAY['attempts']) name
    UNION ALL
    SELECT name, starts, '', (starts AT TIME ZONE 'UTC')::text, (ends AT TIME ZONE 'UTC')::text
      FROM month, unnest(ARRAY['journal', 'journal_blocks']) name
    UNION ALL
    SELECT name, starts, 'WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01)',
           pg_temp.id_bound('exe', starts AT TIME ZONE 'UTC'),
           pg_temp.id_bound('exe', ends AT TIME ZONE 'UTC')
      FROM week, unnest(ARRAY['executions', 'execution_nodes']) name
  LOOP
    EXECUTE format('CREATE TABLE money.%I PARTITION OF money.%I FOR VALUES FROM (%L) TO (%L) %s',
                   part.name || '_' || to_char(part.starts, 'YYYYMMDD'), part.name, part.lower, part.upper,
                   part.options);
  END LOOP;
END $$;

------------------------------------------------------------------------------------------------- roles and grants

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'svc_ledger') THEN CREATE ROLE svc_ledger NOLOGIN; END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'svc_console') THEN CREATE ROLE svc_console NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database of this server just created them
END $$;

REVOKE ALL ON SCHEMA control, money FROM PUBLIC;
GRANT USAGE ON SCHEMA control, money TO svc_ledger, svc_console;

-- Both read all of `money`, including later tables and partitions. Only the ledger reads answers and
-- the secret of receipts.
ALTER DEFAULT PRIVILEGES IN SCHEMA money GRANT SELECT ON TABLES TO svc_ledger, svc_console;
GRANT SELECT ON ALL TABLES IN SCHEMA money TO svc_ledger, svc_console;
REVOKE ALL ON money.answers, money.answers_unplanned, money.quarantined_items, money.receipt_secret FROM svc_console;

-- The ledger reads what admission needs, never a password.
GRANT SELECT ON
  control.memberships,
  control.team_members,
  control.projects,
  control.project_grants,
  control.products,
  control.assignments,
  control.keys,
  control.key_resources,
  control.sandboxes,
  control.revisions,
  control.packages
TO svc_ledger;

-- It hands test calls of providers to processes, and records how they ended.
GRANT SELECT, UPDATE (sender, service, latency_ms, failure, status, code) ON control.provider_tests TO svc_ledger;

-- It writes money, and only adds to what is append-only.
GRANT INSERT ON
  money.fundings,
  money.corrections,
  money.attempts,
  money.journal,
  money.journal_blocks,
  money.write_offs,
  money.answers,
  money.assets,
  money.anchors,
  money.anchored_heads
TO svc_ledger;
GRANT INSERT, UPDATE ON
  money.wallets,
  money.meters,
  money.budgets,
  money.asset_usage,
  money.key_uses,
  money.executions,
  money.execution_nodes,
  money.usage_hours,
  money.usage_days,
  money.product_months,
  money.journal_days,
  money.usage_positions,
  money.rechecked_wallets,
  money.maintenance_turns
TO svc_ledger;
GRANT UPDATE (deleted_at), DELETE ON money.assets TO svc_ledger;
GRANT INSERT, DELETE ON
  money.reservations,
  money.notices,
  money.webhooks
TO svc_ledger;
GRANT UPDATE (secret_key, generation, earlier_secrets, failing_since) ON money.webhooks TO svc_ledger;
GRANT INSERT, UPDATE, DELETE ON
  money.execution_usage,
  money.instances,
  money.instance_monitors,
  money.idempotency_keys,
  money.quarantined_items,
  money.checked_wallets,
  money.checked_meters,
  money.refusal_hours,
  money.latest_refusals,
  money.refusal_senders,
  money.captured_content,
  money.provider_slots,
  money.provider_failures,
  money.provider_senders,
  money.provider_states,
  money.days_left_thresholds,
  money.webhook_deliveries
TO svc_ledger;

-- The console writes who may do what, and reads money without ever writing it.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA control TO svc_console;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA control TO svc_console;
REVOKE UPDATE, DELETE ON control.packages FROM svc_console; -- these never change
-- Seals and retention are functions of the owner.
REVOKE ALL ON control.audit, control.audit_start FROM svc_console;
GRANT SELECT ON control.audit, control.audit_start TO svc_console;
GRANT INSERT (tenant, original, user_id, user_name, action, subject, details, outcome, request, address, device)
  ON control.audit TO svc_console;
REVOKE UPDATE ON
  control.user_identities,
  control.sign_in_codes,
  control.sign_in_tickets,
  control.recovery_codes,
  control.user_tokens,
  control.access_tokens
FROM svc_console;
GRANT UPDATE (second_factor) ON control.user_tokens TO svc_console; -- false, when the user removes it
