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

-- Who a key stands for, and whether its creator may still issue it (spec 5.3, 5.4). Shared by admission and model list.
CREATE VIEW money.callers AS
SELECT k.id, k.hash, k.project, k.lineage, k.policy, k.limit_micro, k.limit_reset, k.expires_at, k.revoked_at,
       k.rotated_to, k.grace_until,
       p.name AS project_name,
       (SELECT m.person FROM control.memberships m WHERE m.tenant = p.tenant AND m.person = k.created_by) IS NOT NULL
         AND (SELECT t.person FROM control.team_members t WHERE t.team = p.team AND t.person = k.created_by) IS NOT NULL
         AND (SELECT g.person FROM control.project_grants g WHERE g.project = p.id AND g.person = k.created_by
                 AND g.role IN ('Project Owner', 'Project Consumer')) IS NOT NULL AS issuer_stands
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
    WHEN NOT k.issuer_stands THEN 'key_issuer_denied'
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

-- One admission on its way through the batch: the item joined with every fact it is decided by.
CREATE TYPE money.candidate AS (
  ord integer, id text, invocation text, attempt integer, holder text, project text, key text, lineage text,
  window_start timestamptz, limit_micro bigint, limit_reset text, product text, micro bigint, output_cap integer,
  prompt_tokens bigint, prompt_pico bigint, completion_pico bigint, request_pico bigint, scope text, idempotency_key text,
  fingerprint bytea, code text, facts jsonb
);

-- Moves the wallets by what a phase of the batch did, writes the journal and seals it (B6).
-- `movements` in order; each is (project, kind, reference, reserved, settled).
CREATE TYPE money.movement AS (ord integer, project text, kind text, reference text, reserved bigint, settled bigint);

CREATE FUNCTION money.book_v1(movements money.movement[], moment timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH entry AS (
    SELECT m.*, w.seal, w.journal_seq + row_number() OVER (PARTITION BY m.project ORDER BY m.ord) AS seq
      FROM unnest(movements) m LEFT JOIN money.wallets w ON w.project = m.project -- LEFT keeps it at one probe an entry
  ), written AS (
    INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
    SELECT project, seq, kind, reference, -reserved - settled, reserved, settled, 0, moment FROM entry
  ), block AS (
    SELECT project, max(seq) AS last_seq, sum(reserved) AS reserved, sum(settled) AS settled,
           sha256(min(seal) || convert_to(string_agg(
             seq || ' ' || kind || ' ' || reference || ' ' || reserved || ' ' || settled || ' 0', E'\n' ORDER BY seq), 'UTF8')) AS seal
      FROM entry GROUP BY project
  ), sealed AS (
    INSERT INTO money.journal_blocks (project, last_seq, seal) SELECT project, last_seq, seal FROM block
  )
  UPDATE money.wallets w
     SET reserved = w.reserved + b.reserved, settled = w.settled + b.settled, journal_seq = b.last_seq, seal = b.seal
    FROM block b WHERE w.project = b.project;
END $$;

-- Closings: settle (charge the usage, never more than was held), release, expire (release, if the holder has ended or is late).
-- Answers one json array: [ord, outcome, charged micro, excess micro].
CREATE FUNCTION money.close_v1(
  locked text[], moment timestamptz, answer_day date,
  c_project text[], c_id text[], c_kind text[], c_prompt integer[], c_completion integer[], c_estimated boolean[], c_answered boolean[], c_reason text[]
) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  movements money.movement[];
  outcomes json;
  taken integer[];
  placed_ids text[];
  buried text[] := '{}';
  rest json;
BEGIN
  WITH item AS MATERIALIZED ( -- else the sub-query is done once more for each column that is read
    -- The row by a scalar sub-query: one index probe an item, even if the planner last saw this table empty.
    SELECT t.*, (SELECT r FROM money.reservations r
                  WHERE r.id = t.item_id AND r.project = t.locked_project -- one that was admitted since has no lock here
                    AND (locked IS NULL OR r.project = ANY (locked))
                    AND (t.kind <> 'expire' OR r.deadline_at <= moment OR NOT EXISTS (
                          SELECT FROM money.holders h WHERE h.id = r.holder AND h.ended_at IS NULL))) AS held
      FROM unnest(c_project, c_id, c_kind, c_prompt, c_completion, c_estimated, c_answered, c_reason)
        WITH ORDINALITY AS t (locked_project, item_id, kind, prompt, completion, estimated, answered, reason, ord)
  ), gone AS MATERIALIZED (
    SELECT (held).*, ord, kind, prompt, completion, estimated, answered, reason FROM item WHERE (held).id IS NOT NULL
  ), deleted AS ( -- nobody else may delete them: their wallets are locked here
    DELETE FROM money.reservations WHERE id = ANY (ARRAY(SELECT id FROM gone))
  ), priced AS (
    SELECT *, CASE kind WHEN 'settle' THEN money.micro_v1(prompt, prompt_pico, completion, completion_pico, request_pico) ELSE 0 END AS cost
      FROM gone
  ), charge AS (
    SELECT *, least(cost, micro) AS charged, greatest(cost - micro, 0) AS excess FROM priced
  ), kept AS (
    INSERT INTO money.invocations (id, invocation, attempt, state, project, key, lineage, window_start, product, holder, reserved_micro,
      charged_micro, prompt_pico, completion_pico, request_pico, prompt_tokens, completion_tokens, estimated, reason, answer_day,
      admitted_at, closed_at)
    SELECT id, invocation, attempt, CASE kind WHEN 'settle' THEN 'Settled' ELSE 'Released' END, project, key, lineage, window_start,
           product, holder, micro, charged, prompt_pico, completion_pico, request_pico, prompt, completion, coalesce(estimated, false),
           reason, CASE WHEN answered THEN answer_day END, admitted_at, moment
      FROM charge
  ), lost AS (
    INSERT INTO money.house_losses (reservation, kind, micro, product, at)
    SELECT id, 'excess', excess, product, moment FROM charge WHERE excess > 0
  ), metered AS (
    UPDATE money.meters t SET reserved = t.reserved - s.micro, spent = t.spent + s.charged
      FROM (SELECT lineage, window_start, sum(micro) AS micro, sum(charged) AS charged
              FROM charge WHERE window_start IS NOT NULL GROUP BY lineage, window_start) s
     WHERE t.lineage = s.lineage AND t.window_start = s.window_start -- a window that has rolled on forgot this hold already
  )
  SELECT array_agg(ROW (ord, project, CASE kind WHEN 'settle' THEN 'settle' ELSE 'release' END, id, -micro, charged)::money.movement ORDER BY ord),
         array_agg(ord::integer),
         json_agg(json_build_array(ord, CASE kind WHEN 'settle' THEN 'settled' ELSE 'released' END, charged, excess))
    INTO movements, taken, outcomes
    FROM charge;

  IF movements IS NOT NULL THEN
    PERFORM money.book_v1(movements, moment);
  END IF;
  IF coalesce(cardinality(taken), 0) = cardinality(c_id) THEN
    RETURN outcomes;
  END IF;

  -- A release of an id that nobody knows leaves a tombstone, which refuses its admission should it still arrive. That may be
  -- under way in another batch, and there is no wallet to lock: the primary key of the reservations decides who was first.
  IF 'release' = ANY (c_kind) THEN
    WITH placed AS ( -- waits for an admission of this id that is being written; there already: the next batch releases it
      INSERT INTO money.reservations (id, invocation, attempt, project, key, lineage, product, holder, micro, output_cap, prompt_pico,
        completion_pico, request_pico, keyed, admitted_at, deadline_at)
      SELECT id, id, 1, '', '', '', '', '', 0, 0, 0, 0, 0, false, moment, moment
        FROM unnest(c_id, c_kind) WITH ORDINALITY AS t (id, kind, ord)
       WHERE kind = 'release' AND (taken IS NULL OR NOT ord = ANY (taken))
         AND NOT EXISTS (SELECT FROM money.reservations r WHERE r.id = t.id)
         AND NOT EXISTS (SELECT FROM money.invocations n WHERE n.id = t.id)
       ORDER BY id ON CONFLICT DO NOTHING RETURNING id
    ) SELECT array_agg(id) INTO placed_ids FROM placed;
    IF placed_ids IS NOT NULL THEN
      WITH tombstone AS (
        INSERT INTO money.invocations (id, invocation, attempt, state, reason, closed_at)
        SELECT i, i, 1, 'Released', 'released before admission', moment FROM unnest(placed_ids) i
        ON CONFLICT DO NOTHING RETURNING id
      ) SELECT array_agg(id) INTO buried FROM tombstone;
      DELETE FROM money.reservations WHERE id = ANY (placed_ids);
    END IF;
  END IF;

  -- The rest had no open reservation that may be closed now: already closed, not yet due, not locked, or never admitted.
  WITH item AS (
    SELECT * FROM unnest(c_project, c_id, c_kind, c_prompt, c_completion)
      WITH ORDINALITY AS t (locked_project, id, kind, prompt, completion, ord) WHERE taken IS NULL OR NOT ord = ANY (taken)
  ), found AS (
    SELECT i.*, r.id IS NOT NULL AS open, r.project AS open_project, n.id IS NOT NULL AS closed, n.state, n.charged_micro, n.product,
           CASE WHEN n.id IS NOT NULL AND i.kind = 'settle'
                THEN money.micro_v1(i.prompt, n.prompt_pico, i.completion, n.completion_pico, n.request_pico) END AS cost
      FROM item i
      LEFT JOIN money.reservations r ON r.id = i.id
      LEFT JOIN money.invocations n ON n.id = i.id
  ), fenced AS ( -- the answer was given after its hold had ended: the house pays, never the project
    INSERT INTO money.house_losses (reservation, kind, micro, product, at)
    SELECT id, 'fenced', cost, product, moment FROM found WHERE kind = 'settle' AND state = 'Released'
    ON CONFLICT DO NOTHING
  )
  SELECT json_agg(json_build_array(ord, CASE
           WHEN open AND kind = 'expire' AND open_project = locked_project AND (locked IS NULL OR open_project = ANY (locked)) THEN 'alive'
           WHEN open THEN 'deferred'
           WHEN state = 'Settled' THEN 'settled'
           WHEN state = 'Released' AND kind = 'settle' THEN 'fenced'
           WHEN state = 'Released' THEN 'released'
           WHEN kind = 'release' THEN CASE WHEN id = ANY (buried) THEN 'released' ELSE 'deferred' END
           ELSE 'unknown' END, coalesce(charged_micro, 0), 0))
    INTO rest FROM found;
  RETURN CASE WHEN outcomes IS NULL THEN rest ELSE (outcomes::jsonb || rest::jsonb)::json END;
END $$;

-- Admissions. Answers one json array: [ord, code, facts] for the refused, [ord, 'admitted', …] for the admitted.
CREATE FUNCTION money.admit_v1(
  locked text[], moment timestamptz,
  a_id text[], a_holder text[], a_hash text[], a_selector text[], a_model text[], a_params text[],
  a_bytes integer[], a_messages integer[], a_tools integer[], a_images integer[], a_counted integer[], a_max_tokens integer[],
  a_key text[], a_fingerprint text[]
) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  candidates money.candidate[];
  code_of text[];
  facts_of jsonb[];
  scarce text[];
  wallet_left jsonb := '{}';
  meter_left jsonb := '{}';
  c money.candidate;
  left_in_wallet bigint;
  left_in_meter bigint;
  named text[] := '{}'; -- admitted item by item: project and idempotency key
  movements money.movement[];
  outcomes json;
BEGIN
  -- 1. The facts, and every check that does not depend on what else is in the batch (decisions.md, 1: order of checks).
  SELECT array_agg(ROW (d.ord, d.id, coalesce(d.first_invocation, d.id), d.attempt, d.holder, d.project, d.key, d.lineage,
           greatest(d.metered_from, d.window_start), d.limit_micro, d.limit_reset, d.model, d.micro, d.output_cap, d.prompt_tokens, d.prompt_pico,
           d.completion_pico, d.request_pico, 'chat', d.idempotency_key, d.fingerprint, d.code,
           CASE d.code
             WHEN 'key_revoked' THEN jsonb_build_object('rotatedTo', d.rotated_to)
             WHEN 'key_expired' THEN jsonb_build_object('expiredAt', d.expires_at)
             WHEN 'project_mismatch' THEN jsonb_build_object('project', d.project)
             WHEN 'context_limit' THEN jsonb_build_object('promptTokens', d.prompt_tokens, 'outputCap', d.output_cap,
               'contextLength', d.context_length, 'maxOutputTokens', d.max_output_tokens, 'tokenizer', d.tokenizer, 'project', d.project)
             WHEN 'unsupported_parameter' THEN jsonb_build_object('param', d.unsupported)
             WHEN 'running' THEN jsonb_build_object('invocation', d.first_invocation)
             WHEN 'replay' THEN jsonb_build_object('invocation', d.first_invocation, 'reservation', d.replay_id, 'day', d.replay_day)
             WHEN 'again' THEN jsonb_build_object('invocation', (d.again).invocation, 'attempt', (d.again).attempt, 'project', (d.again).project,
               'key', (d.again).key, 'product', (d.again).product, 'outputCap', (d.again).output_cap, 'micro', (d.again).micro)
             WHEN 'closed' THEN jsonb_build_object('state', d.closed_state)
             ELSE jsonb_build_object('tokenizer', d.tokenizer, 'project', d.project)
           END)::money.candidate ORDER BY d.ord)
    INTO candidates
    FROM (
      SELECT e.*,
        CASE
          WHEN (e.again).id IS NOT NULL THEN 'again'
          WHEN e.closed_state IS NOT NULL THEN 'closed'
          WHEN e.key_refusal IS NOT NULL THEN e.key_refusal
          WHEN locked IS NOT NULL AND NOT e.project = ANY (locked) THEN 'deferred'
          WHEN e.selector IS DISTINCT FROM NULL AND e.selector <> e.project THEN 'project_mismatch'
          WHEN e.context_length IS NULL THEN 'model_not_found'
          WHEN e.policy = 'listed' AND NOT e.listed THEN 'key_scope'
          WHEN e.recorded_fingerprint <> e.fingerprint THEN 'idempotency_mismatch'
          WHEN e.replay_state = 'Open' THEN 'running'
          WHEN e.replay_state = 'Settled' THEN 'replay'
          WHEN e.unsupported IS NOT NULL THEN 'unsupported_parameter'
          WHEN e.images > 0 AND e.max_tokens_per_image IS NULL THEN 'images_unsupported'
          WHEN e.max_tokens > e.max_output_tokens OR e.prompt_tokens + e.output_cap > e.context_length THEN 'context_limit'
          WHEN NOT e.holder_lives THEN 'holder_unknown'
        END AS code
      FROM (
        SELECT i.ord::integer, i.id, i.holder, i.selector, i.model, i.images, i.max_tokens, i.idempotency_key,
               decode(i.fingerprint, 'hex') AS fingerprint,
               k.id AS key, k.project, k.lineage, k.policy, k.limit_micro, k.limit_reset, k.rotated_to, k.expires_at,
               money.key_refusal_v1(k, moment) AS key_refusal,
               money.window_start_v1(k.limit_reset, moment) AS window_start, t.window_start AS metered_from,
               p.context_length, p.max_output_tokens, p.max_tokens_per_image, p.prompt_pico, p.completion_pico, p.request_pico, p.tokenizer,
               kr.key IS NOT NULL AS listed, h.id IS NOT NULL AS holder_lives,
               again, closed.state AS closed_state,
               x.fingerprint AS recorded_fingerprint, x.invocation AS first_invocation,
               CASE WHEN x.key IS NOT NULL THEN coalesce(xn.state, 'Open') END AS replay_state,
               xn.id AS replay_id, xn.answer_day AS replay_day, coalesce(xn.attempt + 1, 1) AS attempt,
               n.prompt_tokens, n.output_cap, -- a prompt beyond the context is refused; its price need only not overflow
               money.micro_v1(least(n.prompt_tokens, p.context_length), p.prompt_pico, n.output_cap, p.completion_pico, p.request_pico) AS micro,
               (SELECT u FROM unnest(string_to_array(i.params, ',')) u WHERE NOT u = ANY (p.supported_parameters) LIMIT 1) AS unsupported
          FROM unnest(a_id, a_holder, a_hash, a_selector, a_model, a_params, a_bytes, a_messages, a_tools, a_images, a_counted, a_max_tokens,
                      a_key, a_fingerprint)
            WITH ORDINALITY AS i (id, holder, hash, selector, model, params, bytes, messages, tools, images, counted, max_tokens,
                                  idempotency_key, fingerprint, ord)
          -- LIMIT keeps each look-up at one index probe an item, whatever the planner last believed of a table's size.
          LEFT JOIN LATERAL (SELECT * FROM money.callers r WHERE r.hash = decode(i.hash, 'hex') LIMIT 1) k ON true
          LEFT JOIN LATERAL (SELECT * FROM money.meters r WHERE r.lineage = k.lineage AND k.limit_micro IS NOT NULL LIMIT 1) t ON true
          LEFT JOIN LATERAL (SELECT * FROM money.callable_chat_products r WHERE r.project = k.project AND r.id = i.model LIMIT 1) p ON true
          LEFT JOIN LATERAL (SELECT * FROM control.key_resources r WHERE k.policy = 'listed' AND r.key = k.id AND r.resource = i.model LIMIT 1) kr ON true
          LEFT JOIN LATERAL (SELECT * FROM money.holders r WHERE r.id = i.holder AND r.ended_at IS NULL LIMIT 1) h ON true
          LEFT JOIN LATERAL (SELECT * FROM money.reservations r WHERE r.id = i.id LIMIT 1) again ON true
          LEFT JOIN LATERAL (SELECT * FROM money.invocations r WHERE r.id = i.id LIMIT 1) closed ON true
          LEFT JOIN LATERAL (SELECT * FROM money.idempotency_keys r
                              WHERE r.project = k.project AND r.scope = 'chat' AND r.key = i.idempotency_key LIMIT 1) x ON true
          LEFT JOIN LATERAL (SELECT * FROM money.invocations r WHERE r.id = x.reservation LIMIT 1) xn ON true
          CROSS JOIN LATERAL (SELECT
            coalesce(i.counted, (i.bytes::bigint * p.tokens_per_byte_millionths + 999999) / 1000000)
              + i.messages * p.per_message + CASE WHEN i.tools > 0 THEN i.tools * p.per_tool + p.fixed_with_tools ELSE 0 END
              + i.images * coalesce(p.max_tokens_per_image, 0) AS prompt_tokens,
            CASE WHEN coalesce(i.max_tokens, 0) = 0 THEN least(8192, p.max_output_tokens) ELSE i.max_tokens END AS output_cap) n
      ) e
    ) d;
  SELECT array_agg(u.code ORDER BY u.ord), array_agg(u.facts ORDER BY u.ord) INTO code_of, facts_of FROM unnest(candidates) u;

  -- 2. Of several fresh admissions under one idempotency key one is admitted; the copies behind it come again with the next
  --    batch. A refusal keeps no key: where money is scarce (4), a copy behind a refused one is decided now.
  IF cardinality(array_remove(a_key, NULL)) > 1 THEN
    FOR c IN
      SELECT u.* FROM (SELECT v.*, row_number() OVER (PARTITION BY v.project, v.idempotency_key ORDER BY v.ord) AS copy
                         FROM unnest(candidates) v WHERE v.code IS NULL AND v.idempotency_key IS NOT NULL) u WHERE u.copy > 1
    LOOP
      code_of[c.ord] := 'copy';
    END LOOP;
  END IF;

  -- 3. Which wallets or meters can't hold all that is still to be decided (B4).
  SELECT array_agg(DISTINCT s.project) INTO scarce FROM (
    SELECT u.project FROM unnest(candidates) u LEFT JOIN money.wallets w ON w.project = u.project
     WHERE code_of[u.ord] IS NULL
     GROUP BY u.project, w.funded, w.settled, w.reserved HAVING sum(u.micro) > w.funded - w.settled - w.reserved
    UNION ALL
    SELECT u.project FROM unnest(candidates) u
      LEFT JOIN money.meters t ON t.lineage = u.lineage AND t.window_start = u.window_start
     WHERE code_of[u.ord] IS NULL AND u.limit_micro IS NOT NULL
     GROUP BY u.project, u.lineage, u.limit_micro, t.spent, t.reserved
    HAVING sum(u.micro) > u.limit_micro - coalesce(t.spent, 0) - coalesce(t.reserved, 0)) s;

  -- 4. There, item by item in order of arrival: first the key's window, then the wallet (decisions.md, 1).
  IF scarce IS NOT NULL THEN
    SELECT jsonb_object_agg(project, funded - settled - reserved) INTO wallet_left FROM money.wallets WHERE project = ANY (scarce);
    FOREACH c IN ARRAY candidates LOOP
      CONTINUE WHEN c.code IS NOT NULL OR NOT c.project = ANY (scarce);
      IF code_of[c.ord] = 'copy' THEN
        CONTINUE WHEN c.project || ' ' || c.idempotency_key = ANY (named);
        code_of[c.ord] := NULL;
      END IF;
      left_in_wallet := (wallet_left ->> c.project)::bigint;
      IF c.limit_micro IS NOT NULL THEN
        left_in_meter := (meter_left ->> c.lineage)::bigint;
        IF left_in_meter IS NULL THEN
          SELECT c.limit_micro - coalesce(sum(spent + reserved), 0) INTO left_in_meter
            FROM money.meters WHERE lineage = c.lineage AND window_start = c.window_start;
          meter_left := meter_left || jsonb_build_object(c.lineage, left_in_meter);
        END IF;
        IF c.micro > left_in_meter THEN
          code_of[c.ord] := 'key_limit';
          facts_of[c.ord] := facts_of[c.ord] || (SELECT jsonb_build_object('reset', c.limit_reset, 'windowStart', c.window_start, 'limitMicro', c.limit_micro,
            'spentMicro', coalesce(max(t.spent), 0), 'reservedMicro', c.limit_micro - coalesce(max(t.spent), 0) - left_in_meter, 'neededMicro', c.micro)
            FROM money.meters t WHERE t.lineage = c.lineage AND t.window_start = c.window_start);
          CONTINUE;
        END IF;
      END IF;
      IF c.micro > left_in_wallet THEN
        code_of[c.ord] := 'insufficient_budget';
        facts_of[c.ord] := facts_of[c.ord] || (SELECT jsonb_build_object('availableMicro', left_in_wallet,
          'reservedMicro', w.funded - w.settled - left_in_wallet, 'neededMicro', c.micro,
          'affordableMaxTokens', CASE WHEN c.completion_pico > 0 THEN
             greatest(0, floor((left_in_wallet::numeric * 1000000 - c.request_pico - c.prompt_tokens * c.prompt_pico) / c.completion_pico))::bigint
             ELSE 0 END)
          FROM money.wallets w WHERE w.project = c.project);
        CONTINUE;
      END IF;
      IF c.limit_micro IS NOT NULL THEN
        meter_left := meter_left || jsonb_build_object(c.lineage, left_in_meter - c.micro);
      END IF;
      wallet_left := wallet_left || jsonb_build_object(c.project, left_in_wallet - c.micro);
      IF c.idempotency_key IS NOT NULL THEN
        named := named || (c.project || ' ' || c.idempotency_key);
      END IF;
    END LOOP;
  END IF;

  -- 5. Write what was admitted.
  WITH admitted AS (
    SELECT * FROM unnest(candidates) u WHERE code_of[u.ord] IS NULL
  ), held AS (
    INSERT INTO money.reservations (id, invocation, attempt, project, key, lineage, window_start, product, holder, micro, output_cap,
      prompt_pico, completion_pico, request_pico, keyed, admitted_at, deadline_at)
    SELECT id, invocation, attempt, project, key, lineage, CASE WHEN limit_micro IS NOT NULL THEN window_start END, product, holder, micro,
           output_cap, prompt_pico, completion_pico, request_pico, idempotency_key IS NOT NULL, moment, moment + interval '330 seconds'
      FROM admitted
  ), remembered AS (
    INSERT INTO money.idempotency_keys AS x (project, scope, key, fingerprint, invocation, reservation, created_at)
    SELECT project, scope, idempotency_key, fingerprint, invocation, id, moment FROM admitted WHERE idempotency_key IS NOT NULL
    ON CONFLICT (project, scope, key) DO UPDATE SET reservation = excluded.reservation
  ), metered AS (
    INSERT INTO money.meters AS t (lineage, project, window_start, limit_micro, reserved)
    SELECT lineage, min(project), window_start, min(limit_micro), sum(micro) FROM admitted
     WHERE limit_micro IS NOT NULL GROUP BY lineage, window_start
    ON CONFLICT (lineage) DO UPDATE SET
      spent = CASE WHEN t.window_start = excluded.window_start THEN t.spent ELSE 0 END,
      reserved = CASE WHEN t.window_start = excluded.window_start THEN t.reserved ELSE 0 END + excluded.reserved,
      window_start = excluded.window_start
  )
  SELECT array_agg(ROW (ord, project, 'reserve', id, micro, 0)::money.movement ORDER BY ord) INTO movements FROM admitted;

  IF movements IS NOT NULL THEN
    IF EXISTS (SELECT FROM unnest(movements) m WHERE (SELECT n.id FROM money.invocations n WHERE n.id = m.reference) IS NOT NULL) THEN
      RAISE serialization_failure USING MESSAGE = 'an id was released while it was being admitted'; -- decided again, and refused
    END IF;
    PERFORM money.book_v1(movements, moment);
  END IF;

  SELECT json_agg(CASE WHEN code_of[u.ord] IS NULL
           THEN json_build_array(u.ord, 'admitted', u.invocation, u.attempt, u.project, u.key, u.product, u.output_cap, u.micro)
           ELSE json_build_array(u.ord, code_of[u.ord], facts_of[u.ord]) END)
    INTO outcomes FROM unnest(candidates) u;
  RETURN outcomes;
END $$;

-- The batch. `patient` waits for wallets that others hold; without it their items answer 'deferred'.
-- Item lists are parallel arrays, a_ for admissions and c_ for closings; no id stands in one batch twice.
CREATE FUNCTION money.run_batch_v1(
  patient boolean,
  a_id text[], a_holder text[], a_hash text[], a_selector text[], a_model text[], a_params text[],
  a_bytes integer[], a_messages integer[], a_tools integer[], a_images integer[], a_counted integer[], a_max_tokens integer[],
  a_key text[], a_fingerprint text[],
  c_id text[], c_kind text[], c_prompt integer[], c_completion integer[], c_estimated boolean[], c_reason text[],
  c_content_type text[], c_body bytea[],
  OUT admissions text, OUT closings text, OUT products text, OUT at_ms bigint
) LANGUAGE plpgsql
  -- One plan for ever, by index: what is planned while the tables are small must serve when they are large.
  SET lock_timeout = '250ms' -- a wallet that somebody keeps must not stop the lane for the others
  SET plan_cache_mode = 'force_generic_plan' SET enable_seqscan = off SET enable_bitmapscan = off SET enable_material = off
  SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  wanted text[];
  locked text[];
  c_project text[]; -- null: no open reservation then
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
  -- Scalar sub-queries: one index probe an item, whatever the planner believes about how many rows there are.
  SELECT array_agg((SELECT r.project FROM money.reservations r WHERE r.id = i) ORDER BY n) INTO c_project
    FROM unnest(c_id) WITH ORDINALITY u (i, n);
  SELECT array_agg(p ORDER BY p) INTO wanted FROM (
    SELECT (SELECT k.project FROM control.keys k WHERE k.hash = decode(h, 'hex')) AS p FROM unnest(a_hash) h
    UNION
    SELECT unnest(c_project)) t WHERE p IS NOT NULL;
  INSERT INTO money.wallets (project)
  SELECT p FROM unnest(wanted) p WHERE NOT EXISTS (SELECT FROM money.wallets w WHERE w.project = p)
  ON CONFLICT DO NOTHING;

  -- B1
  IF patient THEN
    PERFORM FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE;
  ELSE
    SELECT array_agg(w.project) INTO locked FROM
      (SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE SKIP LOCKED) w;
    locked := CASE WHEN cardinality(locked) = cardinality(wanted) OR wanted IS NULL THEN NULL ELSE coalesce(locked, '{}') END; -- null: all
  END IF;

  -- B2
  moment := clock_timestamp();
  at_ms := floor(extract(epoch FROM moment) * 1000);

  -- B3
  IF cardinality(c_id) > 0 THEN
    closings := money.close_v1(locked, moment, answer_day, c_project, c_id, c_kind, c_prompt, c_completion, c_estimated,
      (SELECT array_agg(t IS NOT NULL ORDER BY n) FROM unnest(c_content_type) WITH ORDINALITY u (t, n)), c_reason);
  END IF;
  IF cardinality(a_id) > 0 THEN
    admissions := money.admit_v1(locked, moment, a_id, a_holder, a_hash, a_selector, a_model, a_params, a_bytes, a_messages, a_tools,
      a_images, a_counted, a_max_tokens, a_key, a_fingerprint);
    SELECT json_object_agg(p.id, json_build_object('origins', p.origins, 'supported', p.supported_parameters))
      INTO products FROM control.products p WHERE p.id IN (SELECT DISTINCT unnest(a_model));
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
