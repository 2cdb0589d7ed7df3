-- The money core: one call of money.run_batch_v1 decides and writes a whole batch in one round trip.
-- `services/ledger/src/decide/` says the same as a pure function; a test holds the two against each other.
--
--   B1  The first statement that takes a lock takes nothing but locks: the wallets, in id order. Whoever writes a
--       project's money holds its wallet, so the wallet's lock also covers its meters, reservations and idempotency keys.
--   B2  All facts are read after the locks, by later statements (READ COMMITTED: each sees what is committed by then),
--       and against one moment of the database's clock.
--   B3  Closings come before admissions: they only free money.
--   B4  Admissions are decided in order of arrival, and a refused one consumes nothing. Where a wallet and its meters hold
--       enough for all that arrived, order cannot matter and the decision is one statement; item by item only where not.
--   B5  A bound, a price and a window are fixed at admission; a closing reads them from its reservation.
--   B6  Every movement is a journal entry, and each batch seals its entries per wallet.
--   B7  Nothing here raises for a business reason. What raises (a CHECK, a bug) undoes the whole batch; the caller then
--       runs its items one by one.
--   B8  No plan may lean on statistics: they are taken from tables that are empty at one moment and hold thousands of rows at the
--       next. So a table is reached by `= ANY` of an array or by a sub-query for one row, which leave the planner nothing but one
--       probe of an index an item; what was fetched so is joined by hash.
--   B9  A node of a run calls under a lease, which is read after the wallet's lock. Whoever ends the lease of a paid node holds that
--       lock too, and closes the reservation in the same transaction; so no hold outlives its lease. That is why nobody else closes
--       it: what closes direct calls leaves reservations of runs alone, and the other way round.

-- Who a key stands for, and whether its creator may still issue it (spec 5.3, 5.4). Shared by admission and model list.
CREATE VIEW money.callers AS
SELECT k.id, k.hash, k.project, k.lineage, k.policy, k.limit_micro, k.limit_reset, k.expires_at, k.revoked_at,
       k.rotated_to, k.grace_until,
       p.name AS project_name,
       (SELECT m.person FROM control.memberships m WHERE m.tenant = p.tenant AND m.person = k.created_by) IS NOT NULL
         AND (SELECT t.person FROM control.team_members t WHERE t.team = p.team AND t.person = k.created_by) IS NOT NULL
         AND (SELECT g.person FROM control.project_grants g WHERE g.project = p.id AND g.person = k.created_by
                 AND g.role IN ('Project Owner', 'Project Consumer')) IS NOT NULL AS issuer_authorized
  FROM control.keys k
  LEFT JOIN LATERAL (SELECT * FROM control.projects r WHERE r.id = k.project LIMIT 1) p ON true;

-- Which products a project can call as a chat model now (spec 4.1, 4.2). Shared by admission and model list.
CREATE VIEW money.callable_chat_products AS
SELECT a.project, p.*
  FROM control.assignments a
  JOIN control.products p ON p.id = a.product AND p.kind = 'chat' AND p.state = 'published';

-- The code that refuses a key as such, or null (decisions.md, 1: the order of checks up to the issuer).
CREATE FUNCTION money.key_refusal_v1(k money.callers, moment timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN k.id IS NULL THEN 'key_invalid'
    WHEN k.revoked_at IS NOT NULL THEN 'key_revoked'
    WHEN k.rotated_to IS NOT NULL AND (k.grace_until IS NULL OR k.grace_until <= moment) THEN 'key_revoked'
    WHEN k.expires_at <= moment THEN 'key_expired'
    WHEN k.project IS NULL THEN 'key_unbound'
    WHEN NOT k.issuer_authorized THEN 'key_issuer_denied'
  END
$$;

-- When the window began that `moment` lies in: UTC midnight, ISO Monday, the first of the month, never.
CREATE FUNCTION money.window_start_v1(reset text, moment timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE reset
    WHEN 'daily' THEN date_trunc('day', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
    WHEN 'weekly' THEN date_trunc('week', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
    WHEN 'monthly' THEN date_trunc('month', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
    WHEN 'lifetime' THEN to_timestamp(0)
  END
$$;

-- Tokens times pico-USD, rounded up once to whole micro-USD.
CREATE FUNCTION money.micro_v1(prompt bigint, prompt_pico bigint, completion bigint, completion_pico bigint, request_pico bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT (prompt * prompt_pico + completion * completion_pico + request_pico + 999999) / 1000000
$$;

-- What one key or run may do with one model now, what that costs, and what its window and wallet hold: read once for all items of a
-- batch that are alike in it.
CREATE TYPE money.caller_and_model AS (
  context_length integer, max_output_tokens integer, max_tokens_per_image integer, tokens_per_byte_millionths integer,
  per_message integer, per_tool integer, fixed_with_tools integer,
  prompt_pico bigint, completion_pico bigint, request_pico bigint,
  limit_micro bigint, window_start timestamptz, meter_spent bigint, meter_reserved bigint,
  wallet_held bigint, wallet_free bigint, journal_seq bigint,
  key_code text, model_code text, project text, key text, lineage text, model text, limit_reset text, rotated_to text,
  expires_at timestamptz, tokenizer text, supported text[], seal bytea,
  execution text, goes_on boolean -- of a run: which, and whether its nodes may still call
);

-- Closings: settle (charge the usage, never more than was held), release, expire (release, if the instance has ended or is late).
-- `of_executions` says whose reservations may be closed: those of nodes of runs, or those of direct calls; the others are 'unknown' (B9).
-- Answers one json object of lists in the order of the items: outcome, charged and excess micro.
CREATE FUNCTION money.close_batch_v1(
  of_executions boolean, locked text[], moment timestamptz, answer_day date,
  c_id text[], c_kind text[], c_prompt integer[], c_completion integer[], c_estimated boolean[], c_answered boolean[], c_reason text[]
) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  outcome_of text[] := array_fill(NULL::text, ARRAY[cardinality(c_id)]);
  charged_of bigint[] := array_fill(0::bigint, ARRAY[cardinality(c_id)]);
  excess_of bigint[] := array_fill(0::bigint, ARRAY[cardinality(c_id)]);
  done integer[];
  outcomes text[];
  charges bigint[];
  excesses bigint[];
  placed_ids text[];
  buried text[] := '{}';
  n integer;
BEGIN
  -- Whatever has an open reservation that may be closed now.
  WITH item AS MATERIALIZED (
    SELECT * FROM unnest(c_id, c_kind, c_prompt, c_completion, c_estimated, c_answered, c_reason)
      WITH ORDINALITY AS t (id, kind, prompt, completion, estimated, answered, reason, ord)
  ), gone AS (
    DELETE FROM money.reservations r USING item i
     WHERE r.id = ANY (c_id) AND r.id = i.id
       AND r.project = ANY (locked) -- one that was admitted since may have no lock here
       AND (r.execution IS NOT NULL) = of_executions
       AND (i.kind <> 'expire' OR r.deadline_at <= moment OR NOT EXISTS (
             SELECT FROM money.instances h WHERE h.id = r.instance AND h.ended_at IS NULL))
    RETURNING r.*, i.ord, i.kind, i.prompt, i.completion, i.estimated, i.answered, i.reason
  ), priced AS (
    SELECT *, CASE kind WHEN 'settle' THEN money.micro_v1(prompt, prompt_pico, completion, completion_pico, request_pico) ELSE 0 END AS cost
      FROM gone
  ), charge AS MATERIALIZED (
    SELECT p.*, least(p.cost, p.micro) AS charged, greatest(p.cost - p.micro, 0) AS excess,
           CASE p.kind WHEN 'settle' THEN 'settle' ELSE 'release' END AS entry, w.seal,
           w.journal_seq + row_number() OVER (PARTITION BY p.project ORDER BY p.ord) AS seq
      FROM priced p JOIN money.wallets w ON w.project = p.project AND w.project = ANY (ARRAY(SELECT project FROM gone))
  ), kept AS (
    INSERT INTO money.attempts (id, invocation, attempt, state, project, key, lineage, window_start, product, instance, reserved_micro,
      charged_micro, prompt_pico, completion_pico, request_pico, prompt_tokens, completion_tokens, estimated, reason, answer_day,
      admitted_at, closed_at, execution, node)
    SELECT id, invocation, attempt, CASE kind WHEN 'settle' THEN 'Settled' ELSE 'Released' END, project, key, lineage, window_start,
           product, instance, micro, charged, prompt_pico, completion_pico, request_pico, prompt, completion, coalesce(estimated, false),
           reason, CASE WHEN answered THEN answer_day END, admitted_at, moment, execution, node
      FROM charge
  ), lost AS (
    INSERT INTO money.write_offs (reservation, kind, micro, product, at)
    SELECT id, 'excess', excess, product, moment FROM charge WHERE excess > 0
  ), metering AS (
    SELECT lineage, window_start, sum(micro) AS micro, sum(charged) AS charged
      FROM charge WHERE window_start IS NOT NULL GROUP BY lineage, window_start
  ), metered AS (
    UPDATE money.meters t SET reserved = t.reserved - s.micro, spent = t.spent + s.charged
      FROM metering s
     WHERE t.lineage = ANY (ARRAY(SELECT lineage FROM metering))
       AND t.lineage = s.lineage AND t.window_start = s.window_start -- a window that has rolled on forgot this hold already
  ), written AS (
    INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
    SELECT project, seq, entry, id, micro - charged, -micro, charged, 0, moment FROM charge
  ), block AS (
    SELECT project, max(seq) AS last_seq, sum(micro) AS freed, sum(charged) AS settled,
           sha256(min(seal) || convert_to(string_agg(seq || ' ' || entry || ' ' || id || ' ' || -micro || ' ' || charged || ' 0', E'\n' ORDER BY seq), 'UTF8')) AS seal
      FROM charge GROUP BY project
  ), sealed AS (
    INSERT INTO money.journal_blocks (project, last_seq, seal) SELECT project, last_seq, seal FROM block
  ), moved AS (
    UPDATE money.wallets w
       SET reserved = w.reserved - b.freed, settled = w.settled + b.settled, journal_seq = b.last_seq, seal = b.seal
      FROM block b WHERE w.project = ANY (ARRAY(SELECT project FROM block)) AND w.project = b.project
  )
  SELECT array_agg(ord::integer), array_agg(CASE kind WHEN 'settle' THEN 'settled' ELSE 'released' END), array_agg(charged), array_agg(excess)
    INTO done, outcomes, charges, excesses FROM charge;

  IF done IS NOT NULL THEN
    FOR n IN 1 .. cardinality(done) LOOP
      outcome_of[done[n]] := outcomes[n];
      charged_of[done[n]] := charges[n];
      excess_of[done[n]] := excesses[n];
    END LOOP;
  END IF;
  IF coalesce(cardinality(done), 0) = cardinality(c_id) THEN
    RETURN json_build_object('outcome', outcome_of, 'charged', charged_of, 'excess', excess_of);
  END IF;

  -- A release of an id that nobody knows leaves a tombstone, which refuses its admission should it still arrive. That may be
  -- under way in another batch, and there is no wallet to lock: the primary key of the reservations decides who was first.
  -- A node's can't arrive any more: its lease is over.
  IF 'release' = ANY (c_kind) AND NOT of_executions THEN
    WITH placed AS ( -- waits for an admission of this id that is being written; there already: the next batch releases it
      INSERT INTO money.reservations (id, invocation, attempt, project, key, lineage, product, instance, micro, output_cap, prompt_pico,
        completion_pico, request_pico, keyed, admitted_at, deadline_at)
      SELECT id, id, 1, '', '', '', '', '', 0, 0, 0, 0, 0, false, moment, moment
        FROM unnest(c_id, c_kind, outcome_of) AS t (id, kind, outcome)
       WHERE kind = 'release' AND outcome IS NULL
         AND (SELECT r.id FROM money.reservations r WHERE r.id = t.id) IS NULL
         AND (SELECT v.id FROM money.attempts v WHERE v.id = t.id) IS NULL
       ORDER BY id ON CONFLICT DO NOTHING RETURNING id
    ) SELECT array_agg(id) INTO placed_ids FROM placed;
    IF placed_ids IS NOT NULL THEN
      WITH tombstone AS (
        INSERT INTO money.attempts (id, invocation, attempt, state, reason, closed_at)
        SELECT i, i, 1, 'Released', 'released before admission', moment FROM unnest(placed_ids) i
        ON CONFLICT DO NOTHING RETURNING id
      ) SELECT array_agg(id) INTO buried FROM tombstone;
      DELETE FROM money.reservations WHERE id = ANY (placed_ids);
    END IF;
  END IF;

  -- The rest had no open reservation that may be closed now: already closed, not yet due, not locked, or never admitted.
  WITH found AS MATERIALIZED (
    SELECT i.*, r.id IS NOT NULL AS open, r.project AS open_project, v.state, v.charged_micro, v.product,
           (coalesce(r.execution, v.execution) IS NOT NULL) <> of_executions AND coalesce(r.project, v.project) IS NOT NULL AS strange,
           CASE WHEN v.id IS NOT NULL AND i.kind = 'settle'
                THEN money.micro_v1(i.prompt, v.prompt_pico, i.completion, v.completion_pico, v.request_pico) END AS cost
      FROM unnest(c_id, c_kind, c_prompt, c_completion, outcome_of) WITH ORDINALITY AS i (id, kind, prompt, completion, outcome, ord)
      LEFT JOIN LATERAL (SELECT * FROM money.reservations r WHERE r.id = i.id LIMIT 1) r ON true
      LEFT JOIN LATERAL (SELECT * FROM money.attempts v WHERE v.id = i.id LIMIT 1) v ON true
     WHERE i.outcome IS NULL
  ), fenced AS ( -- the answer was given after its hold had ended: it is a write-off, never the project
    INSERT INTO money.write_offs (reservation, kind, micro, product, at)
    SELECT id, 'fenced', cost, product, moment FROM found WHERE kind = 'settle' AND state = 'Released' AND NOT strange
    ON CONFLICT DO NOTHING
  )
  SELECT array_agg(ord::integer), array_agg(CASE
           WHEN strange THEN 'unknown'
           WHEN open AND kind = 'expire' AND open_project = ANY (locked) THEN 'alive'
           WHEN open THEN 'deferred'
           WHEN state = 'Settled' THEN 'settled'
           WHEN state = 'Released' AND kind = 'settle' THEN 'fenced'
           WHEN state = 'Released' THEN 'released'
           WHEN kind = 'release' AND NOT of_executions THEN CASE WHEN id = ANY (buried) THEN 'released' ELSE 'deferred' END
           ELSE 'unknown' END), array_agg(CASE WHEN strange THEN 0 ELSE coalesce(charged_micro, 0) END)
    INTO done, outcomes, charges FROM found;
  FOR n IN 1 .. cardinality(done) LOOP
    outcome_of[done[n]] := outcomes[n];
    charged_of[done[n]] := charges[n];
  END LOOP;
  RETURN json_build_object('outcome', outcome_of, 'charged', charged_of, 'excess', excess_of);
END $$;

-- Closings of nodes of runs, for whoever ends their leases (B9): in a transaction that has locked their wallets (`locked`, before
-- anything else) and has taken `moment` from the clock since. `settle` charges, once a node; `release` of an id that was never
-- admitted is 'unknown', and nothing is to be done about it. Answers like money.close_batch_v1, as json in the order of the items:
-- `outcome` (settled, released, fenced, unknown; 'deferred': its wallet is not locked), `charged` and `excess` in micro-USD.
CREATE FUNCTION money.close_v1(
  locked text[], moment timestamptz, answer_day date,
  c_id text[], c_kind text[], c_prompt integer[], c_completion integer[], c_estimated boolean[], c_answered boolean[], c_reason text[]
) RETURNS json LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_bitmapscan = off -- as in run_batch_v1
  SET enable_nestloop = off SET enable_mergejoin = off
AS $$
BEGIN
  RETURN money.close_batch_v1(true, locked, moment, answer_day, c_id, c_kind, c_prompt, c_completion, c_estimated, c_answered, c_reason);
END $$;

-- What runs may do with models: the pairs of a run and a model, in the order given. A run goes by the lineage of its key, or by the
-- person who runs it in the console (money.execution_callers). It calls products of any kind; the context of one that makes images or
-- sounds at a price per request bounds nothing.
CREATE FUNCTION money.execution_pairs_v1(locked text[], moment timestamptz, r_execution text[], r_model text[])
RETURNS money.caller_and_model[] LANGUAGE plpgsql AS $$
DECLARE
  pairs money.caller_and_model[];
BEGIN
  SELECT array_agg(ROW (
           CASE WHEN m.unbounded THEN 2147483647 ELSE m.context_length END, CASE WHEN m.unbounded THEN 2147483647 ELSE m.max_output_tokens END,
           m.max_tokens_per_image, m.tokens_per_byte_millionths, m.per_message, m.per_tool, m.fixed_with_tools,
           m.prompt_pico, m.completion_pico, m.request_pico, i.limit_micro,
           greatest(t.window_start, i.window_start),
           CASE WHEN t.window_start >= i.window_start THEN t.spent ELSE 0 END,
           CASE WHEN t.window_start >= i.window_start THEN t.reserved ELSE 0 END,
           w.funded - w.settled, w.funded - w.settled - w.reserved, w.journal_seq,
           CASE WHEN i.refusal IS NOT NULL THEN i.refusal WHEN NOT i.project = ANY (locked) THEN 'deferred' END,
           CASE WHEN m.id IS NULL THEN 'product_not_assigned' WHEN i.policy = 'listed' AND kr.key IS NULL THEN 'key_scope' END,
           i.project, i.key, i.lineage, i.model, i.limit_reset, NULL, NULL, m.tokenizer, m.supported_parameters, w.seal,
           i.execution, i.goes_on
         )::money.caller_and_model ORDER BY i.n)
    INTO pairs
    FROM (SELECT r.n, r.model, c.*, money.window_start_v1(c.limit_reset, moment) AS window_start
            FROM unnest(r_execution, r_model) WITH ORDINALITY AS r (run, model, n)
            LEFT JOIN LATERAL (SELECT * FROM money.execution_callers c WHERE c.execution = r.run LIMIT 1) c ON true) i
    LEFT JOIN LATERAL (SELECT * FROM money.wallets w WHERE w.project = i.project LIMIT 1) w ON true
    LEFT JOIN LATERAL (SELECT * FROM money.meters t WHERE t.lineage = i.lineage AND i.limit_micro IS NOT NULL LIMIT 1) t ON true
    LEFT JOIN LATERAL (SELECT p.*, p.kind <> 'chat' AND p.unit = 'request' AS unbounded
                         FROM control.products p
                        WHERE p.id = i.model AND p.state = 'published'
                          AND (SELECT a.product FROM control.assignments a WHERE a.project = i.project AND a.product = p.id) IS NOT NULL
                        LIMIT 1) m ON true
    LEFT JOIN LATERAL (SELECT * FROM control.key_resources r WHERE r.key = i.key AND r.resource = i.model AND i.policy = 'listed' LIMIT 1) kr ON true;
  RETURN pairs;
END $$;

-- Admissions. p_ are the different pairs of key and model, r_ those of run and model, counted on behind them; a_pair says which
-- of them an item is (from 1). a_node and a_lease are null for direct calls, and empty where all are.
-- Answers one json object of lists in the order of the items: code (null: admitted) and facts of the refused, invocation (null: its
-- own id), attempt, outputCap and micro; and by pair its callers: project and key.
CREATE FUNCTION money.admit_v1(
  locked text[], moment timestamptz, p_hash text[], p_model text[], r_execution text[], r_model text[],
  a_id text[], a_pair integer[], a_instance text[], a_selector text[], a_params text[],
  a_bytes integer[], a_messages integer[], a_tools integer[], a_images integer[], a_counted integer[], a_max_tokens integer[],
  a_key text[], a_fingerprint text[], a_node text[], a_lease text[]
) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  pairs money.caller_and_model[];
  fenced_of boolean[]; -- per item of a node; null where no item is one
  call_of text[];
  try_of integer[];
  known text[];      -- ids that were asked before
  living text[];     -- instances
  code_of text[];    -- per item: null is admitted
  facts_of jsonb[];
  micro_of bigint[];
  cap_of integer[];
  prompt_of bigint[];
  invocation_of text[];
  attempt_of integer[];
  scarce text[];
  wallet_left jsonb := '{}';
  meter_left jsonb := '{}';
  left_in_wallet bigint;
  left_in_meter bigint;
  named text[] := '{}'; -- admitted item by item: project and idempotency key
  p money.caller_and_model;
  n integer;
  callers json;
BEGIN
  -- 1. The facts of each key and model.
  SELECT array_agg(ROW (
           m.context_length, m.max_output_tokens, m.max_tokens_per_image, m.tokens_per_byte_millionths, m.per_message, m.per_tool,
           m.fixed_with_tools, m.prompt_pico, m.completion_pico, m.request_pico, i.limit_micro,
           greatest(t.window_start, i.window_start),
           CASE WHEN t.window_start >= i.window_start THEN t.spent ELSE 0 END,
           CASE WHEN t.window_start >= i.window_start THEN t.reserved ELSE 0 END,
           w.funded - w.settled, w.funded - w.settled - w.reserved, w.journal_seq,
           CASE WHEN i.refusal IS NOT NULL THEN i.refusal WHEN NOT i.project = ANY (locked) THEN 'deferred' END,
           CASE WHEN m.id IS NULL THEN 'model_not_found' WHEN i.policy = 'listed' AND kr.key IS NULL THEN 'key_scope' END,
           i.project, i.id, i.lineage, i.model, i.limit_reset, i.rotated_to, i.expires_at, m.tokenizer, m.supported_parameters, w.seal,
           NULL, NULL
         )::money.caller_and_model ORDER BY i.n)
    INTO pairs
    FROM (SELECT i.n, i.model, k.*, money.key_refusal_v1(k.row, moment) AS refusal, money.window_start_v1(k.limit_reset, moment) AS window_start
            FROM unnest(p_hash, p_model) WITH ORDINALITY AS i (hash, model, n)
            LEFT JOIN LATERAL (SELECT c AS row, c.* FROM money.callers c WHERE c.hash = decode(i.hash, 'hex') LIMIT 1) k ON true) i
    LEFT JOIN LATERAL (SELECT * FROM money.wallets w WHERE w.project = i.project LIMIT 1) w ON true
    LEFT JOIN LATERAL (SELECT * FROM money.meters t WHERE t.lineage = i.lineage AND i.limit_micro IS NOT NULL LIMIT 1) t ON true
    LEFT JOIN LATERAL (SELECT * FROM money.callable_chat_products m WHERE m.project = i.project AND m.id = i.model LIMIT 1) m ON true
    LEFT JOIN LATERAL (SELECT * FROM control.key_resources r WHERE r.key = i.id AND r.resource = i.model AND i.policy = 'listed' LIMIT 1) kr ON true;

  -- 2. Of nodes: what their runs may do, and which are fenced: the lease is another's, the run ends, or the node was charged.
  IF cardinality(r_execution) > 0 THEN
    pairs := pairs || money.execution_pairs_v1(locked, moment, r_execution, r_model);
    SELECT array_agg(i.node IS NOT NULL AND (NOT coalesce((i.p).goes_on AND n.state = 'Running' AND n.lease = i.lease, false)
                       OR n.reservation <> i.id OR charged.id IS NOT NULL) ORDER BY i.ord),
           array_agg(n.call ORDER BY i.ord), array_agg(n.attempt ORDER BY i.ord)
      INTO fenced_of, call_of, try_of
      FROM (SELECT u.*, pairs[u.pair] AS p FROM unnest(a_id, a_pair, a_node, a_lease) WITH ORDINALITY AS u (id, pair, node, lease, ord) OFFSET 0) i
      LEFT JOIN LATERAL (SELECT * FROM money.execution_nodes e WHERE e.execution = (i.p).execution AND e.node = i.node LIMIT 1) n ON true
      LEFT JOIN LATERAL (SELECT v.id FROM money.attempts v
                          WHERE v.execution = (i.p).execution AND v.node = i.node AND v.state = 'Settled' LIMIT 1) charged ON true;
  END IF;

  -- 3. Which items were asked before, and which instances live.
  SELECT ARRAY(SELECT r.id FROM money.reservations r WHERE r.id = ANY (a_id) UNION ALL SELECT v.id FROM money.attempts v WHERE v.id = ANY (a_id)),
         ARRAY(SELECT h.id FROM money.instances h WHERE h.id = ANY (a_instance) AND h.ended_at IS NULL)
    INTO known, living;

  -- 4. Every check that does not depend on what else is in the batch, and which wallets or meters can't hold all that is left (B4).
  WITH item AS MATERIALIZED (
    SELECT d.ord, d.idempotency_key, (d.p).project, (d.p).lineage, (d.p).limit_micro, (d.p).meter_spent, (d.p).meter_reserved, (d.p).wallet_free,
           d.prompt_tokens, d.output_cap, -- a prompt beyond the context is refused; its price need only not overflow
           money.micro_v1(least(d.prompt_tokens, (d.p).context_length), (d.p).prompt_pico, d.output_cap, (d.p).completion_pico, (d.p).request_pico) AS micro,
           coalesce(d.call, x.invocation) AS invocation, xn.id AS replay_id, xn.answer_day, coalesce(d.try, xn.attempt + 1, 1) AS attempt,
           again, closed.state AS closed_state, d.p, d.unsupported,
           CASE
             WHEN (again).id IS NOT NULL THEN 'again'
             WHEN d.fenced THEN 'fenced'
             WHEN closed.state IS NOT NULL THEN 'closed'
             WHEN (d.p).key_code IS NOT NULL THEN (d.p).key_code
             WHEN d.selector <> (d.p).project THEN 'project_mismatch'
             WHEN (d.p).model_code IS NOT NULL THEN (d.p).model_code
             WHEN x.fingerprint <> decode(d.fingerprint, 'hex') THEN 'idempotency_mismatch'
             WHEN x.key IS NOT NULL AND coalesce(xn.state, 'Open') = 'Open' THEN 'running'
             WHEN xn.state = 'Settled' THEN 'replay'
             WHEN d.unsupported IS NOT NULL THEN 'unsupported_parameter'
             WHEN d.images > 0 AND (d.p).max_tokens_per_image IS NULL THEN 'images_unsupported'
             WHEN d.max_tokens > (d.p).max_output_tokens OR d.prompt_tokens + d.output_cap > (d.p).context_length THEN 'context_limit'
             WHEN NOT d.instance = ANY (living) THEN 'instance_unknown'
           END AS code
      FROM (
        SELECT i.*,
               coalesce(i.counted, (i.bytes::bigint * (i.p).tokens_per_byte_millionths + 999999) / 1000000)
                 + i.messages * (i.p).per_message + CASE WHEN i.tools > 0 THEN i.tools * (i.p).per_tool + (i.p).fixed_with_tools ELSE 0 END
                 + i.images * coalesce((i.p).max_tokens_per_image, 0) AS prompt_tokens,
               CASE WHEN i.max_tokens > 0 THEN i.max_tokens ELSE least(8192, (i.p).max_output_tokens) END AS output_cap,
               CASE WHEN i.params <> '' THEN
                 (SELECT u FROM unnest(string_to_array(i.params, ',')) u WHERE NOT u = ANY ((i.p).supported) LIMIT 1) END AS unsupported
          FROM (SELECT i.*, pairs[i.pair] AS p
                  FROM unnest(a_id, a_pair, a_instance, a_selector, a_params, a_bytes, a_messages, a_tools, a_images, a_counted, a_max_tokens,
                              a_key, a_fingerprint, fenced_of, call_of, try_of)
                  WITH ORDINALITY AS i (id, pair, instance, selector, params, bytes, messages, tools, images, counted, max_tokens,
                                        idempotency_key, fingerprint, fenced, call, try, ord) OFFSET 0) i
        OFFSET 0) d
      LEFT JOIN LATERAL (SELECT * FROM money.reservations r WHERE r.id = d.id AND d.id = ANY (known) LIMIT 1) again ON true
      LEFT JOIN LATERAL (SELECT * FROM money.attempts r WHERE r.id = d.id AND d.id = ANY (known) LIMIT 1) closed ON true
      LEFT JOIN LATERAL (SELECT * FROM money.idempotency_keys r
                          WHERE r.project = (d.p).project AND r.scope = 'chat' AND r.key = d.idempotency_key LIMIT 1) x ON true
      LEFT JOIN LATERAL (SELECT * FROM money.attempts r WHERE r.id = x.reservation LIMIT 1) xn ON true
  )
  SELECT array_agg(i.code ORDER BY i.ord), array_agg(i.micro ORDER BY i.ord), array_agg(i.output_cap ORDER BY i.ord), array_agg(i.prompt_tokens ORDER BY i.ord),
         array_agg(i.invocation ORDER BY i.ord), array_agg(i.attempt ORDER BY i.ord),
         array_agg(CASE i.code
             WHEN 'key_revoked' THEN jsonb_build_object('rotatedTo', (i.p).rotated_to)
             WHEN 'key_expired' THEN jsonb_build_object('expiredAt', (i.p).expires_at)
             WHEN 'project_mismatch' THEN jsonb_build_object('project', (i.p).project)
             WHEN 'context_limit' THEN jsonb_build_object('promptTokens', i.prompt_tokens, 'outputCap', i.output_cap,
               'contextLength', (i.p).context_length, 'maxOutputTokens', (i.p).max_output_tokens, 'tokenizer', (i.p).tokenizer, 'project', (i.p).project)
             WHEN 'unsupported_parameter' THEN jsonb_build_object('param', i.unsupported)
             WHEN 'running' THEN jsonb_build_object('invocation', i.invocation)
             WHEN 'replay' THEN jsonb_build_object('invocation', i.invocation, 'reservation', i.replay_id, 'day', i.answer_day)
             WHEN 'again' THEN jsonb_build_object('invocation', (i.again).invocation, 'attempt', (i.again).attempt, 'project', (i.again).project,
               'key', (i.again).key, 'product', (i.again).product, 'outputCap', (i.again).output_cap, 'micro', (i.again).micro)
             WHEN 'closed' THEN jsonb_build_object('state', i.closed_state)
             ELSE CASE WHEN i.code IS NOT NULL THEN jsonb_build_object('tokenizer', (i.p).tokenizer, 'project', (i.p).project) END
           END ORDER BY i.ord),
         (SELECT array_agg(s.project) FROM (
            SELECT u.project FROM item u WHERE u.code IS NULL GROUP BY u.project, u.wallet_free HAVING sum(u.micro) > u.wallet_free
            UNION ALL
            SELECT u.project FROM item u WHERE u.code IS NULL AND u.limit_micro IS NOT NULL
             GROUP BY u.project, u.lineage, u.limit_micro, u.meter_spent, u.meter_reserved
            HAVING sum(u.micro) > u.limit_micro - u.meter_spent - u.meter_reserved) s)
    INTO code_of, micro_of, cap_of, prompt_of, invocation_of, attempt_of, facts_of, scarce
    FROM item i;

  -- 5. Of several fresh admissions under one idempotency key one is admitted; the copies behind it come again with the next
  --    batch. A refusal keeps no key: where money is scarce (6), a copy behind a refused one is decided now.
  IF cardinality(array_remove(a_key, NULL)) > 1 THEN
    FOR n IN
      SELECT t.ord FROM (
        SELECT u.ord, row_number() OVER (PARTITION BY (pairs[u.pair]).project, u.key ORDER BY u.ord) AS copy
          FROM unnest(a_key, a_pair, code_of) WITH ORDINALITY AS u (key, pair, code, ord) WHERE u.key IS NOT NULL AND u.code IS NULL) t
       WHERE t.copy > 1
    LOOP
      code_of[n] := 'copy';
      facts_of[n] := jsonb_build_object('project', (pairs[a_pair[n]]).project);
    END LOOP;
  END IF;

  -- 6. Where it is scarce, item by item in order of arrival: first the key's window, then the wallet (decisions.md, 1).
  IF scarce IS NOT NULL THEN
    FOR n IN 1 .. cardinality(a_id) LOOP
      CONTINUE WHEN code_of[n] <> 'copy';
      p := pairs[a_pair[n]];
      CONTINUE WHEN NOT p.project = ANY (scarce);
      IF code_of[n] = 'copy' THEN
        CONTINUE WHEN p.project || ' ' || a_key[n] = ANY (named);
        code_of[n] := NULL;
      END IF;
      left_in_meter := coalesce((meter_left ->> p.lineage)::bigint, p.limit_micro - p.meter_spent - p.meter_reserved);
      left_in_wallet := coalesce((wallet_left ->> p.project)::bigint, p.wallet_free);
      IF micro_of[n] > left_in_meter THEN
        code_of[n] := 'key_limit';
        facts_of[n] := jsonb_build_object('tokenizer', p.tokenizer, 'project', p.project, 'reset', p.limit_reset, 'windowStart', p.window_start, 'limitMicro', p.limit_micro,
          'spentMicro', p.meter_spent, 'reservedMicro', p.limit_micro - p.meter_spent - left_in_meter, 'neededMicro', micro_of[n]);
      ELSIF micro_of[n] > left_in_wallet THEN
        code_of[n] := 'insufficient_budget';
        facts_of[n] := jsonb_build_object('tokenizer', p.tokenizer, 'project', p.project, 'availableMicro', left_in_wallet,
          'reservedMicro', p.wallet_held - left_in_wallet, 'neededMicro', micro_of[n],
          'affordableMaxTokens', CASE WHEN p.completion_pico > 0 THEN
             greatest(0, floor((left_in_wallet::numeric * 1000000 - p.request_pico - prompt_of[n] * p.prompt_pico) / p.completion_pico))::bigint ELSE 0 END);
      ELSE
        wallet_left := wallet_left || jsonb_build_object(p.project, left_in_wallet - micro_of[n]);
        IF left_in_meter IS NOT NULL THEN
          meter_left := meter_left || jsonb_build_object(p.lineage, left_in_meter - micro_of[n]);
        END IF;
        IF a_key[n] IS NOT NULL THEN
          named := named || (p.project || ' ' || a_key[n]);
        END IF;
      END IF;
    END LOOP;
  END IF;

  -- 7. Write what was admitted.
  IF array_position(code_of, NULL) IS NOT NULL THEN
    WITH admitted AS MATERIALIZED (
      SELECT e.ord, e.id, coalesce(e.invocation, e.id) AS invocation, e.attempt, e.instance, e.key AS idempotency_key, e.fingerprint, e.micro, e.cap,
             (e.p).project, (e.p).key, (e.p).lineage, (e.p).limit_micro, (e.p).window_start, (e.p).model,
             (e.p).prompt_pico, (e.p).completion_pico, (e.p).request_pico, (e.p).seal, (e.p).execution, e.node,
             (e.p).journal_seq + row_number() OVER (PARTITION BY (e.p).project ORDER BY e.ord) AS seq
        FROM (SELECT u.*, pairs[u.pair] AS p
                FROM unnest(a_id, a_pair, a_instance, a_key, a_fingerprint, code_of, micro_of, cap_of, invocation_of, attempt_of, a_node)
                WITH ORDINALITY AS u (id, pair, instance, key, fingerprint, code, micro, cap, invocation, attempt, node, ord)
               WHERE u.code IS NULL OFFSET 0) e
    ), held AS (
      INSERT INTO money.reservations (id, invocation, attempt, project, key, lineage, window_start, product, instance, micro, output_cap,
        prompt_pico, completion_pico, request_pico, keyed, admitted_at, deadline_at, execution, node)
      SELECT id, invocation, attempt, project, key, lineage, CASE WHEN limit_micro IS NOT NULL THEN window_start END, model, instance, micro,
             cap, prompt_pico, completion_pico, request_pico, idempotency_key IS NOT NULL, moment, moment + interval '330 seconds',
             execution, node
        FROM admitted
    ), remembered AS (
      INSERT INTO money.idempotency_keys AS x (project, scope, key, fingerprint, invocation, reservation, created_at)
      SELECT project, 'chat', idempotency_key, decode(fingerprint, 'hex'), invocation, id, moment FROM admitted WHERE idempotency_key IS NOT NULL
      ON CONFLICT (project, scope, key) DO UPDATE SET reservation = excluded.reservation
    ), metered AS (
      INSERT INTO money.meters AS t (lineage, project, window_start, limit_micro, reserved)
      SELECT lineage, min(project), window_start, min(limit_micro), sum(micro) FROM admitted
       WHERE limit_micro IS NOT NULL GROUP BY lineage, window_start
      ON CONFLICT (lineage) DO UPDATE SET
        spent = CASE WHEN t.window_start = excluded.window_start THEN t.spent ELSE 0 END,
        reserved = CASE WHEN t.window_start = excluded.window_start THEN t.reserved ELSE 0 END + excluded.reserved,
        window_start = excluded.window_start
    ), written AS (
      INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
      SELECT project, seq, 'reserve', id, -micro, micro, 0, 0, moment FROM admitted
    ), block AS (
      SELECT project, max(seq) AS last_seq, sum(micro) AS held,
             sha256(min(seal) || convert_to(string_agg(seq || ' reserve ' || id || ' ' || micro || ' 0 0', E'\n' ORDER BY seq), 'UTF8')) AS seal
        FROM admitted GROUP BY project
    ), sealed AS (
      INSERT INTO money.journal_blocks (project, last_seq, seal) SELECT project, last_seq, seal FROM block
    )
    UPDATE money.wallets w SET reserved = w.reserved + b.held, journal_seq = b.last_seq, seal = b.seal
      FROM block b WHERE w.project = ANY (ARRAY(SELECT project FROM block)) AND w.project = b.project;

    IF EXISTS (SELECT FROM money.attempts v
                WHERE v.id = ANY (ARRAY(SELECT u.id FROM unnest(a_id, code_of) AS u (id, code) WHERE u.code IS NULL))) THEN
      RAISE serialization_failure USING MESSAGE = 'an id was released while it was being admitted'; -- decided again, and refused
    END IF;
  END IF;

  SELECT json_agg(json_build_array(u.project, u.key)) INTO callers FROM unnest(pairs) u;
  RETURN json_build_object('code', code_of, 'facts', facts_of, 'invocation', invocation_of, 'attempt', attempt_of, 'outputCap', cap_of,
                           'micro', micro_of, 'callers', callers);
END $$;

-- The batch. `patient` waits for wallets that others hold; without it their items answer 'deferred'.
-- Item lists are parallel arrays, p_ and r_ for pairs, a_ for admissions and c_ for closings; no id stands in one batch twice.
CREATE FUNCTION money.run_batch_v1(
  patient boolean, p_hash text[], p_model text[], r_execution text[], r_model text[],
  a_id text[], a_pair integer[], a_instance text[], a_selector text[], a_params text[],
  a_bytes integer[], a_messages integer[], a_tools integer[], a_images integer[], a_counted integer[], a_max_tokens integer[],
  a_key text[], a_fingerprint text[], a_node text[], a_lease text[],
  c_id text[], c_kind text[], c_prompt integer[], c_completion integer[], c_estimated boolean[], c_reason text[],
  c_content_type text[], c_body bytea[],
  OUT admissions text, OUT closings text, OUT products text, OUT at_ms bigint
) LANGUAGE plpgsql
  -- One plan for ever (B8): what is planned while the tables are small must serve when they are large.
  SET lock_timeout = '250ms' -- a wallet that somebody keeps must not stop the batcher for the others
  SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_bitmapscan = off
  SET enable_nestloop = off SET enable_mergejoin = off
AS $$
DECLARE
  wanted text[];
  locked text[];
  moment timestamptz(3);
  answer_day date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
  -- Answers first: they need no lock, and a long write would be time under lock for everybody.
  IF cardinality(array_remove(c_content_type, NULL)) > 0 THEN
    INSERT INTO money.answers (day, reservation, content_type, body)
    SELECT answer_day, id, content_type, body FROM unnest(c_id, c_content_type, c_body) t (id, content_type, body)
     WHERE content_type IS NOT NULL ORDER BY id -- in one order everywhere, so that no two batches wait for each other
    ON CONFLICT DO NOTHING;
  END IF;

  -- Which wallets: a key's and a reservation's project never change, so this may be read before the locks.
  SELECT array_agg(DISTINCT p) FILTER (WHERE p IS NOT NULL) INTO wanted FROM (
    SELECT k.project AS p FROM control.keys k WHERE k.hash = ANY (ARRAY(SELECT decode(h, 'hex') FROM unnest(p_hash) h))
    UNION ALL
    SELECT r.project FROM money.reservations r WHERE r.id = ANY (c_id)) t;
  IF cardinality(r_execution) > 0 THEN -- and a run's
    SELECT array_agg(DISTINCT p) INTO wanted
      FROM (SELECT unnest(wanted) AS p UNION ALL SELECT e.project FROM money.executions e WHERE e.id = ANY (r_execution)) t;
  END IF;

  -- B1
  FOR round IN 1 .. 2 LOOP
    IF patient THEN
      SELECT array_agg(w.project) INTO locked FROM (SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE) w;
    ELSE
      SELECT array_agg(w.project) INTO locked FROM
        (SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE SKIP LOCKED) w;
    END IF;
    EXIT WHEN round = 2 OR wanted IS NULL OR cardinality(locked) = cardinality(wanted);
    INSERT INTO money.wallets (project) -- a project's first call
    SELECT p FROM unnest(wanted) p WHERE NOT p = ANY (ARRAY(SELECT w.project FROM money.wallets w WHERE w.project = ANY (wanted)))
    ON CONFLICT DO NOTHING;
    EXIT WHEN NOT FOUND;
  END LOOP;
  locked := coalesce(locked, '{}');

  -- B2
  moment := clock_timestamp();
  at_ms := floor(extract(epoch FROM moment) * 1000);

  -- B3
  IF cardinality(c_id) > 0 THEN
    closings := money.close_batch_v1(false, locked, moment, answer_day, c_id, c_kind, c_prompt, c_completion, c_estimated,
      (SELECT array_agg(t IS NOT NULL ORDER BY n) FROM unnest(c_content_type) WITH ORDINALITY u (t, n)), c_reason);
  END IF;
  IF cardinality(a_id) > 0 THEN
    admissions := money.admit_v1(locked, moment, p_hash, p_model, r_execution, r_model, a_id, a_pair, a_instance, a_selector, a_params,
      a_bytes, a_messages, a_tools, a_images, a_counted, a_max_tokens, a_key, a_fingerprint, a_node, a_lease);
    SELECT json_object_agg(p.id, json_build_object('providers', p.providers, 'supported', p.supported_parameters))
      INTO products FROM control.products p WHERE p.id = ANY (p_model || r_model);
  END IF;
END $$;

-- Money comes in, once per funding id (decisions.md, 2). Answers whether it came in now, and what stood under that id.
CREATE FUNCTION money.fund_v1(of_project text, of_funding text, amount bigint, by_person text, OUT fresh boolean, OUT recorded bigint)
LANGUAGE plpgsql AS $$
DECLARE
  w money.wallets;
  moment timestamptz(3);
BEGIN
  INSERT INTO money.wallets (project) VALUES (of_project) ON CONFLICT DO NOTHING;
  SELECT * INTO w FROM money.wallets WHERE project = of_project FOR UPDATE;
  moment := clock_timestamp();
  SELECT micro INTO recorded FROM money.fundings WHERE project = of_project AND funding_id = of_funding;
  fresh := recorded IS NULL;
  IF fresh THEN
    recorded := amount;
    INSERT INTO money.fundings (project, funding_id, micro, funded_by, at) VALUES (of_project, of_funding, amount, by_person, moment);
    INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
    VALUES (of_project, w.journal_seq + 1, 'fund', of_funding, amount, 0, 0, -amount, moment);
    w.seal := sha256(w.seal || convert_to((w.journal_seq + 1) || ' fund ' || of_funding || ' 0 0 ' || amount, 'UTF8'));
    INSERT INTO money.journal_blocks (project, last_seq, seal) VALUES (of_project, w.journal_seq + 1, w.seal);
    UPDATE money.wallets SET funded = funded + amount, journal_seq = w.journal_seq + 1, seal = w.seal WHERE project = of_project;
  END IF;
END $$;

REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA money FROM PUBLIC;
GRANT SELECT ON money.callers, money.callable_chat_products TO svc_ledger;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA money TO svc_ledger;
