-- The stack's two halves: `control` says who may do what, `money` is the book of record.
-- Every CHECK below is the last belt: the batch function decides, these refuse what it must never write.

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
  id                        text PRIMARY KEY,
  name                      text NOT NULL,
  description               text NOT NULL,
  owned_by                  text NOT NULL,
  kind                      text NOT NULL CHECK (kind IN ('chat', 'image', 'audio')),
  state                     text NOT NULL CHECK (state IN ('draft', 'published', 'suspended')),
  context_length            integer NOT NULL CHECK (context_length BETWEEN 1 AND 10000000),
  max_output_tokens         integer NOT NULL CHECK (max_output_tokens BETWEEN 1 AND 10000000),
  supported_parameters      text[] NOT NULL,
  input_modalities          text[] NOT NULL,
  output_modalities         text[] NOT NULL,
  is_moderated              boolean NOT NULL DEFAULT false,
  tokenizer                 text CHECK (tokenizer IN ('o200k_base', 'cl100k_base')),
  unit                      text NOT NULL CHECK (unit IN ('tokens', 'request')),
  prompt_pico               bigint NOT NULL DEFAULT 0 CHECK (prompt_pico BETWEEN 0 AND 100000000000),
  completion_pico           bigint NOT NULL DEFAULT 0 CHECK (completion_pico BETWEEN 0 AND 100000000000),
  request_pico              bigint NOT NULL DEFAULT 0 CHECK (request_pico BETWEEN 0 AND 1000000000000000000),
  tokens_per_byte_millionths integer NOT NULL DEFAULT 1000000 CHECK (tokens_per_byte_millionths BETWEEN 1 AND 1000000),
  per_message               integer NOT NULL DEFAULT 8 CHECK (per_message BETWEEN 0 AND 10000),
  per_tool                  integer NOT NULL DEFAULT 16 CHECK (per_tool BETWEEN 0 AND 10000),
  fixed_with_tools          integer NOT NULL DEFAULT 64 CHECK (fixed_with_tools BETWEEN 0 AND 100000),
  max_tokens_per_image      integer CHECK (max_tokens_per_image BETWEEN 1 AND 100000),
  providers                   jsonb NOT NULL CHECK (jsonb_typeof(providers) = 'array'),
  created_at                timestamptz(3) NOT NULL DEFAULT now(),
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

-- What a key is bound to at creation it keeps for life (spec 2.1): only revoking and rotating may touch the row.
CREATE FUNCTION control.keep_key_binding() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.project, NEW.lineage, NEW.hash, NEW.tenant, NEW.policy, NEW.limit_micro, NEW.limit_reset, NEW.created_by, NEW.expires_at, NEW.rotated_from)
     IS DISTINCT FROM
     (OLD.project, OLD.lineage, OLD.hash, OLD.tenant, OLD.policy, OLD.limit_micro, OLD.limit_reset, OLD.created_by, OLD.expires_at, OLD.rotated_from)
  THEN RAISE EXCEPTION 'a key keeps its project, lineage, secret, policy, limit, creator and expiry for life';
  END IF;
  IF NEW.id <> OLD.id OR OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS NULL
     OR OLD.rotated_to IS NOT NULL AND (NEW.rotated_to IS DISTINCT FROM OLD.rotated_to OR NEW.grace_until > coalesce(OLD.grace_until, '-infinity'))
  THEN RAISE EXCEPTION 'a revoked or rotated key stays so';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keep_key_binding BEFORE UPDATE ON control.keys FOR EACH ROW EXECUTE FUNCTION control.keep_key_binding();

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

CREATE TABLE money.instances (
  id            text PRIMARY KEY,
  service       text NOT NULL,
  started_at    timestamptz(3) NOT NULL,
  heartbeat_at       timestamptz(3) NOT NULL,
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
  instance          text NOT NULL,
  micro           bigint NOT NULL CHECK (micro >= 0),
  output_cap      integer NOT NULL,
  prompt_pico     bigint NOT NULL,
  completion_pico bigint NOT NULL,
  request_pico    bigint NOT NULL,
  keyed           boolean NOT NULL,
  admitted_at     timestamptz(3) NOT NULL,
  deadline_at     timestamptz(3) NOT NULL,
  execution       text, -- whose node the call is of; null: a direct call
  node            text,
  CHECK ((execution IS NULL) = (node IS NULL))
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE UNIQUE INDEX one_hold_a_node ON money.reservations (execution, node) WHERE execution IS NOT NULL;

-- Closed reservations: the usage records, never updated.
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
  instance            text,
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
  execution         text, -- whose node the call was of; null: a direct call
  node              text,
  CHECK (state = 'Settled' OR charged_micro = 0),
  CHECK (project IS NOT NULL OR state = 'Released'),
  CHECK ((execution IS NULL) = (node IS NULL))
);
CREATE INDEX ON money.attempts (project, admitted_at);
CREATE INDEX later_attempts ON money.attempts (invocation) WHERE attempt > 1;
CREATE INDEX ON money.attempts (execution) WHERE execution IS NOT NULL;
CREATE UNIQUE INDEX one_charge_a_node ON money.attempts (execution, node) WHERE state = 'Settled' AND execution IS NOT NULL;

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

-- What is written once stays as it was written, whoever asks.
CREATE FUNCTION money.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%.% is append-only', TG_TABLE_SCHEMA, TG_TABLE_NAME;
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON money.journal FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON money.journal_blocks FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON money.attempts FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON money.fundings FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON control.audit FOR EACH STATEMENT EXECUTE FUNCTION money.refuse_change();

-- A day's partition of saved answers is made ahead, and dropped when its retention is over (decisions.md, 4: 30 days).
-- Runs with the owner's rights, because the ledger's role may not change tables.
CREATE FUNCTION money.keep_answer_partitions(ahead integer, keep integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  today date := (now() AT TIME ZONE 'UTC')::date;
  one   date;
  old   text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('money.keep_answer_partitions'));
  FOR one IN SELECT today + n FROM generate_series(0, ahead) n LOOP
    IF to_regclass(format('money.answers_%s', to_char(one, 'YYYYMMDD'))) IS NULL
       AND NOT EXISTS (SELECT FROM money.answers_unplanned WHERE day = one) THEN
      EXECUTE format('CREATE TABLE money.answers_%s PARTITION OF money.answers FOR VALUES FROM (%L) TO (%L)',
                     to_char(one, 'YYYYMMDD'), one, one + 1);
      EXECUTE format('REVOKE ALL ON money.answers_%s FROM svc_console', to_char(one, 'YYYYMMDD')); -- default privileges gave it
    END IF;
  END LOOP;
  FOR old IN
    SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'money' AND relname ~ '^answers_[0-9]{8}$' AND relname < 'answers_' || to_char(today - keep, 'YYYYMMDD')
  LOOP
    EXECUTE format('DROP TABLE money.%I', old);
  END LOOP;
  DELETE FROM money.answers_unplanned WHERE day < today - keep;
END $$;

------------------------------------------------------------------------------------------------------------- roles

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'svc_ledger') THEN CREATE ROLE svc_ledger NOLOGIN; END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'svc_console') THEN CREATE ROLE svc_console NOLOGIN; END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database of the same server made them just now
END $$;

REVOKE ALL ON SCHEMA control, money FROM PUBLIC;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA control, money FROM PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA money GRANT SELECT ON TABLES TO svc_ledger;
ALTER DEFAULT PRIVILEGES IN SCHEMA money GRANT SELECT ON TABLES TO svc_console;

GRANT USAGE ON SCHEMA control, money TO svc_ledger, svc_console;

-- The ledger reads what admission needs to know, never a password; it writes money, and to what is append-only it only adds.
GRANT SELECT ON control.keys, control.key_resources, control.projects, control.memberships, control.team_members,
  control.project_grants, control.products, control.assignments TO svc_ledger;
GRANT SELECT ON ALL TABLES IN SCHEMA money TO svc_ledger;
GRANT INSERT, UPDATE ON money.wallets, money.meters, money.instances, money.key_uses, money.checked_wallets, money.checked_meters TO svc_ledger;
GRANT DELETE ON money.instances, money.checked_wallets, money.checked_meters TO svc_ledger;
GRANT INSERT, DELETE ON money.reservations TO svc_ledger;
GRANT INSERT ON money.attempts, money.journal, money.journal_blocks, money.fundings, money.write_offs, money.answers TO svc_ledger;
GRANT INSERT, UPDATE, DELETE ON money.idempotency_keys TO svc_ledger;
GRANT EXECUTE ON FUNCTION money.keep_answer_partitions TO svc_ledger;

-- The console writes who may do what, and reads money without ever writing it.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA control TO svc_console;
REVOKE UPDATE, DELETE ON control.audit FROM svc_console;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA control TO svc_console;
GRANT SELECT ON ALL TABLES IN SCHEMA money TO svc_console;
REVOKE ALL ON money.answers, money.answers_unplanned FROM svc_console;
