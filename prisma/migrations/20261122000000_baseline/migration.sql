-- All tables, indexes, roles and grants. `control` says who may do what, `money` is the book of record. What decides
-- something stands in prisma/functions: views, functions and triggers.
-- A CHECK is the last line of defence: the functions decide, and a CHECK refuses what they must never write.
-- What an author wrote and what a node answered is kept as bytes: text from outside may hold what `jsonb` and `text`
-- refuse.

CREATE SCHEMA control;
CREATE SCHEMA money;

------------------------------------------------------------------------------------------------------------ people

CREATE TABLE control.tenants (
  id         text PRIMARY KEY,
  name       text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE control.people (
  id                text PRIMARY KEY,
  email             text NOT NULL UNIQUE CHECK (email = lower(email)),
  name              text NOT NULL,
  password_hash     text,
  platform_operator boolean NOT NULL DEFAULT false,
  -- The organization whose Admin chose this person's first password, and so could sign in as them. null: nobody did.
  -- No reference, because the fact outlives the organization.
  vouched_by        text,
  created_at        timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE control.person_tokens (
  id         text PRIMARY KEY,
  person     text NOT NULL REFERENCES control.people,
  name       text NOT NULL,
  hash       bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  prefix     text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3)
);
CREATE INDEX ON control.person_tokens (person);

-- Who a person is at a sign-in provider (OpenID Connect), from the first sign-in there on. One identity per provider:
-- an e-mail that the provider has given to somebody else does not bring its former owner's account along.
CREATE TABLE control.person_identities (
  issuer     text NOT NULL,
  subject    text NOT NULL,
  person     text NOT NULL REFERENCES control.people,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject),
  UNIQUE (person, issuer)
);

-- Attempts to sign in, counted for all replicas. Losing them in a crash gives somebody who guesses passwords one more
-- minute's worth.
CREATE UNLOGGED TABLE control.sign_in_attempts (
  key    text PRIMARY KEY,
  points integer NOT NULL,
  expire timestamptz(3)
);

CREATE TABLE control.memberships (
  tenant     text NOT NULL REFERENCES control.tenants,
  person     text NOT NULL REFERENCES control.people,
  role       text NOT NULL CHECK (role IN ('Admin', 'Member')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant, person)
);
CREATE INDEX ON control.memberships (person);

CREATE TABLE control.teams (
  id         text PRIMARY KEY,
  tenant     text NOT NULL REFERENCES control.tenants,
  name       text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON control.teams (tenant);

CREATE TABLE control.team_members (
  team       text NOT NULL REFERENCES control.teams,
  person     text NOT NULL REFERENCES control.people,
  role       text NOT NULL CHECK (role IN ('Team Owner', 'Team Member')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (team, person)
);
CREATE INDEX ON control.team_members (person);

CREATE TABLE control.projects (
  id         text PRIMARY KEY,
  tenant     text NOT NULL REFERENCES control.tenants,
  team       text NOT NULL REFERENCES control.teams,
  name       text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON control.projects (tenant);

CREATE TABLE control.project_grants (
  project    text NOT NULL REFERENCES control.projects,
  person     text NOT NULL REFERENCES control.people,
  role       text NOT NULL CHECK (role IN ('Project Owner', 'Project Consumer', 'Project Viewer')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (project, person)
);
CREATE INDEX ON control.project_grants (person);

CREATE TABLE control.audit (
  id      bigserial PRIMARY KEY,
  tenant  text,
  at      timestamptz(3) NOT NULL DEFAULT now(),
  person  text,
  action  text NOT NULL,
  subject text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX ON control.audit (tenant, id);

--------------------------------------------------------------------------------------------------------- catalogue

-- The ceilings on prices and tokens keep `tokens * price` of one call inside a bigint, with room to add three.
CREATE TABLE control.products (
  id                         text PRIMARY KEY,
  name                       text NOT NULL,
  description                text NOT NULL,
  owned_by                   text NOT NULL,
  kind                       text NOT NULL CHECK (kind IN ('chat', 'image', 'audio')),
  state                      text NOT NULL CHECK (state IN ('draft', 'published', 'suspended')),
  context_length             integer NOT NULL CHECK (context_length BETWEEN 1 AND 10000000),
  max_output_tokens          integer NOT NULL CHECK (max_output_tokens BETWEEN 1 AND 10000000),
  supported_parameters       text[] NOT NULL,
  input_modalities           text[] NOT NULL,
  output_modalities          text[] NOT NULL,
  is_moderated               boolean NOT NULL DEFAULT false,
  tokenizer                  text CHECK (tokenizer IN ('o200k_base', 'cl100k_base')),
  unit                       text NOT NULL CHECK (unit IN ('tokens', 'request')),
  prompt_pico                bigint NOT NULL DEFAULT 0 CHECK (prompt_pico BETWEEN 0 AND 100000000000),
  completion_pico            bigint NOT NULL DEFAULT 0 CHECK (completion_pico BETWEEN 0 AND 100000000000),
  request_pico               bigint NOT NULL DEFAULT 0 CHECK (request_pico BETWEEN 0 AND 1000000000000000000),
  tokens_per_byte_millionths integer NOT NULL DEFAULT 1000000 CHECK (tokens_per_byte_millionths BETWEEN 1 AND 1000000),
  per_message                integer NOT NULL DEFAULT 8 CHECK (per_message BETWEEN 0 AND 10000),
  per_tool                   integer NOT NULL DEFAULT 16 CHECK (per_tool BETWEEN 0 AND 10000),
  fixed_with_tools           integer NOT NULL DEFAULT 64 CHECK (fixed_with_tools BETWEEN 0 AND 100000),
  max_tokens_per_image       integer CHECK (max_tokens_per_image BETWEEN 1 AND 100000),
  providers                  jsonb NOT NULL CHECK (jsonb_typeof(providers) = 'array'),
  created_at                 timestamptz(3) NOT NULL DEFAULT now(),
  CHECK (CASE unit WHEN 'tokens' THEN request_pico = 0 ELSE prompt_pico = 0 AND completion_pico = 0 END)
);

CREATE TABLE control.assignments (
  project    text NOT NULL REFERENCES control.projects,
  product    text NOT NULL REFERENCES control.products,
  created_by text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (project, product)
);
CREATE INDEX ON control.assignments (product);

-------------------------------------------------------------------------------------------------------------- keys

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
  created_by   text NOT NULL REFERENCES control.people,
  created_at   timestamptz(3) NOT NULL DEFAULT now(),
  expires_at   timestamptz(3),
  expiry_days  integer CHECK (expiry_days BETWEEN 1 AND 365),
  revoked_at   timestamptz(3),
  rotated_from text UNIQUE,
  rotated_to   text UNIQUE,
  grace_until  timestamptz(3),
  CHECK ((limit_micro IS NULL) = (limit_reset IS NULL)),
  CHECK (project IS NULL OR (expires_at IS NOT NULL AND expiry_days IS NOT NULL))
);
CREATE INDEX ON control.keys (tenant);
CREATE INDEX ON control.keys (project);
CREATE INDEX ON control.keys (lineage);

CREATE TABLE control.key_resources (
  key      text NOT NULL REFERENCES control.keys,
  resource text NOT NULL,
  PRIMARY KEY (key, resource)
);

------------------------------------------------------------------------------------------------------------- books

-- fillfactor 50: the balances change with every batch, and half-empty pages keep those updates in place (HOT).
CREATE TABLE money.wallets (
  project     text PRIMARY KEY,
  funded      bigint NOT NULL DEFAULT 0,
  reserved    bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  settled     bigint NOT NULL DEFAULT 0 CHECK (settled >= 0),
  journal_seq bigint NOT NULL DEFAULT 0,
  seal        bytea NOT NULL DEFAULT '\x'::bytea,
  CHECK (settled + reserved <= funded)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

CREATE TABLE money.meters (
  lineage      text PRIMARY KEY,
  project      text NOT NULL,
  window_start timestamptz(3) NOT NULL,
  limit_micro  bigint NOT NULL,
  spent        bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
  reserved     bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
  CHECK (spent + reserved <= limit_micro)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- Processes that work under reservations and leases. One row is one life of a process.
CREATE TABLE money.instances (
  id            text PRIMARY KEY,
  service       text NOT NULL,
  started_at    timestamptz(3) NOT NULL,
  heartbeat_at  timestamptz(3) NOT NULL,
  dead_after_ms integer NOT NULL CHECK (dead_after_ms BETWEEN 1000 AND 60000),
  ended_at      timestamptz(3)
) WITH (fillfactor = 50);

-- Open reservations only, so that the table stays as small as what is in flight.
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
  prompt_pico     bigint NOT NULL,
  completion_pico bigint NOT NULL,
  request_pico    bigint NOT NULL,
  keyed           boolean NOT NULL,
  admitted_at     timestamptz(3) NOT NULL,
  deadline_at     timestamptz(3) NOT NULL,
  execution       text, -- of a node's call; null: a direct call
  node            text,
  CHECK ((execution IS NULL) = (node IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE UNIQUE INDEX one_reservation_a_node ON money.reservations (execution, node) WHERE execution IS NOT NULL;

-- Closed reservations, each an attempt under an invocation: the usage records, never updated.
CREATE TABLE money.attempts (
  id                text PRIMARY KEY,
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
  charged_micro     bigint NOT NULL DEFAULT 0 CHECK (charged_micro BETWEEN 0 AND reserved_micro),
  prompt_pico       bigint NOT NULL DEFAULT 0,
  completion_pico   bigint NOT NULL DEFAULT 0,
  request_pico      bigint NOT NULL DEFAULT 0,
  prompt_tokens     integer,
  completion_tokens integer,
  estimated         boolean NOT NULL DEFAULT false,
  reason            text,
  answer_day        date,
  admitted_at       timestamptz(3),
  closed_at         timestamptz(3) NOT NULL,
  execution         text, -- of a node's call; null: a direct call
  node              text,
  CHECK (state = 'Settled' OR charged_micro = 0),
  CHECK (project IS NOT NULL OR state = 'Released'),
  CHECK ((execution IS NULL) = (node IS NULL))
);
CREATE INDEX ON money.attempts (project, admitted_at);
CREATE INDEX later_attempts ON money.attempts (invocation) WHERE attempt > 1;
CREATE INDEX ON money.attempts (execution) WHERE execution IS NOT NULL;
CREATE UNIQUE INDEX one_charge_a_node ON money.attempts (execution, node)
  WHERE state = 'Settled' AND execution IS NOT NULL;

CREATE TABLE money.journal (
  project   text NOT NULL,
  seq       bigint NOT NULL,
  kind      text NOT NULL CHECK (kind IN ('fund', 'reserve', 'settle', 'release')),
  reference text NOT NULL,
  available bigint NOT NULL,
  reserved  bigint NOT NULL,
  settled   bigint NOT NULL,
  outside   bigint NOT NULL,
  at        timestamptz(3) NOT NULL,
  PRIMARY KEY (project, seq),
  CONSTRAINT balanced CHECK (available + reserved + settled + outside = 0)
);

CREATE TABLE money.journal_blocks (
  project  text NOT NULL,
  last_seq bigint NOT NULL,
  seal     bytea NOT NULL,
  PRIMARY KEY (project, last_seq)
);

CREATE TABLE money.fundings (
  project    text NOT NULL,
  funding_id text NOT NULL,
  micro      bigint NOT NULL CHECK (micro BETWEEN 1 AND 9007199254740991),
  funded_by  text NOT NULL,
  at         timestamptz(3) NOT NULL,
  PRIMARY KEY (project, funding_id)
);

-- What was served and is charged to nobody: usage above the reservation (excess), or an answer after its end (fenced).
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
  scope       text NOT NULL,
  key         text NOT NULL,
  fingerprint bytea NOT NULL,
  invocation  text NOT NULL,
  reservation text NOT NULL,
  created_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (project, scope, key)
);
CREATE INDEX ON money.idempotency_keys (created_at);

-- Saved answers, one partition a day: their retention is a dropped partition.
CREATE TABLE money.answers (
  day          date NOT NULL,
  reservation  text NOT NULL,
  content_type text NOT NULL,
  body         bytea NOT NULL,
  PRIMARY KEY (day, reservation)
) PARTITION BY RANGE (day);
CREATE TABLE money.answers_unplanned PARTITION OF money.answers DEFAULT;

CREATE TABLE money.key_uses (
  key          text PRIMARY KEY,
  last_used_at timestamptz(3) NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE money.checked_wallets (
  project    text PRIMARY KEY,
  seq        bigint NOT NULL,
  funded     bigint NOT NULL,
  reserved   bigint NOT NULL,
  settled    bigint NOT NULL,
  seal       bytea NOT NULL,
  checked_at timestamptz(3) NOT NULL
);

CREATE TABLE money.checked_meters (
  lineage      text NOT NULL,
  window_start timestamptz(3) NOT NULL,
  project      text NOT NULL,
  spent        bigint NOT NULL,
  PRIMARY KEY (lineage, window_start)
);
CREATE INDEX ON money.checked_meters (project);

------------------------------------------------------------------------------------------------------- sandboxes

CREATE TABLE control.sandboxes (
  id              text PRIMARY KEY CHECK (id LIKE 'sbx-%'),
  project         text NOT NULL REFERENCES control.projects,
  name            text NOT NULL,
  description     text NOT NULL,
  mcp_enabled     boolean NOT NULL DEFAULT false,
  suspended       boolean NOT NULL DEFAULT false,
  latest_revision integer NOT NULL DEFAULT 0 CHECK (latest_revision >= 0),
  active_revision integer CHECK (active_revision BETWEEN 1 AND latest_revision),
  activated_at    timestamptz(3),
  created_by      text NOT NULL REFERENCES control.people,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  CHECK ((active_revision IS NULL) = (activated_at IS NULL))
);
CREATE INDEX ON control.sandboxes (project);

CREATE TABLE control.revisions (
  sandbox       text NOT NULL REFERENCES control.sandboxes,
  number        integer NOT NULL CHECK (number >= 1),
  draft         boolean NOT NULL,
  base_revision integer,
  graph         bytea NOT NULL,
  problems      bytea NOT NULL,
  digest        text CHECK (digest ~ '^[0-9a-f]{64}$'), -- with its package; null where the graph has problems
  package       bytea,
  manifest      text[] NOT NULL DEFAULT '{}',
  paid_nodes    integer NOT NULL DEFAULT 0 CHECK (paid_nodes BETWEEN 0 AND 8),
  chat_input    text, -- the one text field of either side; null where the contract is not chat-compatible (rules §3.9)
  chat_output   text,
  created_by    text NOT NULL REFERENCES control.people,
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (sandbox, number),
  CHECK ((digest IS NULL) = (package IS NULL)),
  CHECK ((chat_input IS NULL) = (chat_output IS NULL))
);
ALTER TABLE control.sandboxes ADD FOREIGN KEY (id, active_revision) REFERENCES control.revisions (sandbox, number);

------------------------------------------------------------------------------------------------------- executions

-- fillfactor 50: status, seq and deadline change while an execution goes on, and half-empty pages keep those updates in
-- place (HOT).
CREATE TABLE money.executions (
  id           text PRIMARY KEY,
  project      text NOT NULL,
  sandbox      text NOT NULL,
  revision     integer NOT NULL,
  key          text, -- in whose name: a key, by its lineage, or a person in the console
  lineage      text,
  person       text,
  surface      text NOT NULL CHECK (surface IN ('invoke', 'chat')),
  status       text NOT NULL CHECK (status IN ('Admitted', 'Running', 'Succeeded', 'Failed')),
  version      integer NOT NULL DEFAULT 0, -- of the execution and its nodes together: rises with each change
  seq          integer NOT NULL DEFAULT 0, -- of its newest line of progress
  output       bytea,
  error        bytea, -- set when it begins to fail; it is Failed once none of its nodes is Running
  traceparent  text,
  tracestate   text,
  created_at   timestamptz(3) NOT NULL,
  started_at   timestamptz(3), -- the first claim of a node
  deadline_at  timestamptz(3) NOT NULL, -- of the first claim; then of the execution; then of the nodes that outlast it
  completed_at timestamptz(3),
  CHECK ((key IS NULL) = (lineage IS NULL) AND (key IS NULL) <> (person IS NULL)),
  CHECK ((status IN ('Succeeded', 'Failed')) = (completed_at IS NOT NULL)),
  CHECK (status <> 'Failed' OR error IS NOT NULL),
  CHECK (status <> 'Succeeded' OR output IS NOT NULL)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX ON money.executions (deadline_at) WHERE completed_at IS NULL;
CREATE INDEX ON money.executions (project) WHERE completed_at IS NULL;
CREATE INDEX executions_that_fail ON money.executions (id) WHERE completed_at IS NULL AND error IS NOT NULL;
CREATE INDEX ON money.executions (sandbox, created_at);
CREATE INDEX ON money.executions (completed_at) WHERE completed_at IS NOT NULL; -- for the retention-cleaner

CREATE TABLE money.execution_nodes (
  execution    text NOT NULL REFERENCES money.executions ON DELETE CASCADE,
  ordinal      integer NOT NULL, -- in the order of the graph
  node         text NOT NULL,
  kind         text NOT NULL,
  project      text NOT NULL,
  sources      integer[] NOT NULL, -- ordinals of the nodes whose values it takes
  state        text NOT NULL CHECK (state IN ('Pending', 'Ready', 'Running', 'Succeeded', 'Failed', 'Skipped')),
  attempt      integer NOT NULL DEFAULT 1, -- rises whenever a lease ends without a result
  deaths       integer NOT NULL DEFAULT 0, -- leases that ended because their instance did
  seq          integer, -- its line of progress
  ports        text, -- those that have a value: a JSON list
  output       bytea,
  error        bytea,
  instance     text, -- the one that runs it or ran it
  lease        text, -- kept with its result, so that a repeat of `complete` is known
  call         text, -- the invocation of its paid call, the same for each attempt
  reservation  text, -- of this attempt
  enqueued_at  timestamptz(3), -- when the queue was last asked to run it
  claimed_at   timestamptz(3),
  completed_at timestamptz(3),
  duration_ms  integer,
  remote_ms    integer,
  PRIMARY KEY (execution, ordinal),
  CHECK ((lease IS NULL) = (instance IS NULL)),
  CHECK (state <> 'Running' OR lease IS NOT NULL),
  CHECK (state NOT IN ('Pending', 'Ready', 'Skipped') OR lease IS NULL),
  CHECK ((state IN ('Succeeded', 'Failed')) = (seq IS NOT NULL)),
  CHECK (state <> 'Succeeded' OR output IS NOT NULL AND ports IS NOT NULL),
  CHECK ((state = 'Failed') = (error IS NOT NULL))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX ON money.execution_nodes (instance) WHERE state = 'Running';
CREATE INDEX ON money.execution_nodes (project, execution) WHERE state = 'Ready' AND enqueued_at IS NULL;
CREATE INDEX ON money.execution_nodes (project, enqueued_at)
  WHERE state IN ('Ready', 'Running') AND enqueued_at IS NOT NULL;

----------------------------------------------------------------------------------------------------------- assets

CREATE TABLE money.assets (
  id         text PRIMARY KEY,
  project    text NOT NULL,
  mime_type  text NOT NULL,
  bytes      integer NOT NULL CHECK (bytes > 0),
  execution  text, -- the one that made it; null: it was uploaded
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX ON money.assets (project, created_at);

------------------------------------------------------------------------------------------------------------- roles

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'svc_ledger') THEN CREATE ROLE svc_ledger NOLOGIN; END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'svc_console') THEN CREATE ROLE svc_console NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database of the same server made them just now
END $$;

REVOKE ALL ON SCHEMA control, money FROM PUBLIC;
GRANT USAGE ON SCHEMA control, money TO svc_ledger, svc_console;

-- Both read all of `money`, what comes later as well.
ALTER DEFAULT PRIVILEGES IN SCHEMA money GRANT SELECT ON TABLES TO svc_ledger;
ALTER DEFAULT PRIVILEGES IN SCHEMA money GRANT SELECT ON TABLES TO svc_console;
GRANT SELECT ON ALL TABLES IN SCHEMA money TO svc_ledger, svc_console;
REVOKE ALL ON money.answers, money.answers_unplanned FROM svc_console;

-- The ledger reads what admission needs to know, never a password. It writes money, and to what is append-only it only
-- adds.
GRANT SELECT ON
  control.keys,
  control.key_resources,
  control.projects,
  control.memberships,
  control.team_members,
  control.project_grants,
  control.products,
  control.assignments,
  control.sandboxes,
  control.revisions
TO svc_ledger;
GRANT INSERT ON
  money.attempts,
  money.journal,
  money.journal_blocks,
  money.fundings,
  money.write_offs,
  money.answers,
  money.assets
TO svc_ledger;
GRANT INSERT, DELETE ON money.reservations TO svc_ledger;
GRANT INSERT, UPDATE ON money.wallets, money.meters, money.key_uses, money.execution_nodes TO svc_ledger;
GRANT INSERT, UPDATE, DELETE ON
  money.instances,
  money.checked_wallets,
  money.checked_meters,
  money.idempotency_keys,
  money.executions -- its nodes are deleted with it
TO svc_ledger;

-- The console writes who may do what, and reads money without ever writing it.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA control TO svc_console;
REVOKE UPDATE, DELETE ON control.audit FROM svc_console;
REVOKE UPDATE ON control.person_identities FROM svc_console;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA control TO svc_console;
