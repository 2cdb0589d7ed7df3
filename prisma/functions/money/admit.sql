-- Decides and writes admissions of direct calls and of nodes. The rules of batches are B1 to B12 of run_batch. `locked`
-- are the projects whose wallets are locked, and the budgets.
-- Returns one json object of lists in the order of the items: code (null: admitted) and facts of refusals, invocation
-- (null: its own id), attempt, outputCap and micro; and by pair its callers: project, key and price.
-- needs: money.admission, money.admission_pair, money.make_caller_and_model, money.budget_targets, money.notify_full_budgets
CREATE OR REPLACE FUNCTION money.admit(
  locked text[],
  moment timestamptz,
  callers money.admission_pair[],
  items money.admission[]
) RETURNS json LANGUAGE plpgsql
AS $$
DECLARE
  pairs money.caller_and_model[];
  ids text[];
  instances text[];
  is_keyed boolean;
  of_executions boolean;
  fenced_of boolean[]; -- per item; null if no item is of a node
  call_of text[];
  try_of integer[];
  known_ids text[]; -- ids that were submitted before; for these, per item:
  again_of jsonb[]; -- the open reservation
  closed_of text[];
  live_instances text[];
  -- The call recorded under the idempotency key of an item, and its newest reservation; null if there is none.
  first_invocation_of text[];
  first_fingerprint_of bytea[];
  first_reservation_of text[];
  first_attempt_of integer[];
  first_state_of text[]; -- Open: it is running
  first_day_of date[];
  code_of text[]; -- per item; null: admitted
  facts_of jsonb[];
  micro_of bigint[];
  cap_of integer[];
  prompt_of bigint[]; -- maximum tokens
  around_of bigint[]; -- the part of them that is not text
  invocation_of text[];
  attempt_of integer[];
  is_tight boolean; -- the smallest wallet, meter or ceiling might not cover all items
  scarce text[]; -- projects with a wallet, meter or ceiling that can't cover all their items
  wallet_left jsonb := '{}';
  meter_left jsonb := '{}';
  ceiling_left jsonb := '{}';
  left_in_wallet bigint;
  left_in_meter bigint;
  left_in_ceiling bigint;
  least_micro bigint;
  month timestamptz := money.window_start('monthly', moment);
  budget_left jsonb := '{}';
  over_budget text; -- the first budget that does not cover an item
  refusing jsonb := '{}'; -- budgets that refuse an item even once all calls in progress are released, by their ids
  claimed_keys text[] := '{}'; -- admitted item by item: project and idempotency key
  p money.caller_and_model;
  n integer;
  callers_json json;
  -- The ids that bound the partitions to read (B10 of run_batch).
  oldest_id text;
  newest_id text;
  oldest_execution text;
  newest_execution text;
  oldest_earlier text; -- reservations of earlier calls under the same idempotency keys
  newest_earlier text;
BEGIN
  SELECT array_agg(i.id), array_agg(i.instance), count(i.key) > 0, min(i.id), max(i.id)
    INTO ids, instances, is_keyed, oldest_id, newest_id FROM unnest(items) i;
  of_executions := callers[cardinality(callers)].execution IS NOT NULL;
  IF of_executions THEN
    SELECT min(c.execution), max(c.execution) INTO oldest_execution, newest_execution FROM unnest(callers) c;
  END IF;

  -- 1. The facts of each key and model.
  SELECT array_agg(money.make_caller_and_model(
           project => i.project,
           key => i.id,
           lineage => i.lineage,
           model => i.model,
           rotated_to => i.rotated_to,
           expires_at => i.expires_at,
           key_code => CASE WHEN i.refusal IS NOT NULL THEN i.refusal
                            WHEN NOT i.project = ANY (locked) OR g.are_locked IS FALSE THEN 'deferred'
                            WHEN i.own_tag <> i.tag THEN 'tag_mismatch' END,
           model_code => CASE WHEN m.id IS NULL THEN 'model_not_found'
                              WHEN i.policy = 'listed' AND kr.key IS NULL THEN 'key_scope' END,
           limit_micro => i.limit_micro,
           limit_reset => i.limit_reset,
           window_start => greatest(t.window_start, i.window_start),
           meter_spent => CASE WHEN t.window_start >= i.window_start THEN t.spent ELSE 0 END,
           meter_reserved => CASE WHEN t.window_start >= i.window_start THEN t.reserved ELSE 0 END,
           -- run_batch creates wallets; a check may find a project without one
           wallet_total => coalesce(w.funded - w.settled, 0),
           wallet_free => coalesce(w.funded - w.settled - w.reserved, 0),
           journal_seq => w.journal_seq,
           seal => w.seal,
           context_length => m.context_length,
           max_output_tokens => m.max_output_tokens,
           supported_parameters => m.supported_parameters,
           tokenizer => m.tokenizer,
           tokens_per_byte_millionths => m.tokens_per_byte_millionths,
           per_message => m.per_message,
           per_tool => m.per_tool,
           fixed_with_tools => m.fixed_with_tools,
           max_tokens_per_image => m.max_tokens_per_image,
           factor_millionths => m.factor_millionths,
           prompt_pico => m.prompt_pico,
           completion_pico => m.completion_pico,
           request_pico => m.request_pico,
           cached_pico => m.cached_pico,
           reasoning_pico => m.reasoning_pico,
           cache_write_pico => m.cache_write_pico,
           kind => m.kind,
           takes_files => m.takes_files,
           tag => coalesce(i.tag, i.own_tag),
           budgets => g.ids,
           budget_windows => g.windows,
           budgets_left => g.left_of
         ) ORDER BY i.n)
    INTO pairs
    FROM (SELECT i.n,
                 i.model,
                 i.own_tag,
                 k.*,
                 money.budget_targets(k.tenant, k.created_by, k.team, coalesce(k.tag, i.own_tag)) AS targets,
                 money.key_refusal(k.row, moment) AS refusal,
                 money.window_start(k.limit_reset, moment) AS window_start
            FROM (SELECT c.key_hash, c.model, c.tag AS own_tag, c.ordinality AS n FROM unnest(callers) WITH ORDINALITY AS c
                   WHERE c.key_hash IS NOT NULL) i
            LEFT JOIN LATERAL (
              SELECT k AS row, k.* FROM money.callers k
               WHERE k.hash = decode(i.key_hash, 'hex') LIMIT 1) k ON true) i
    LEFT JOIN LATERAL (SELECT * FROM money.wallets w WHERE w.project = i.project LIMIT 1) w ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.meters t WHERE t.lineage = i.lineage AND i.limit_micro IS NOT NULL LIMIT 1) t ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.callable_models m
       WHERE m.project = i.project AND m.id = i.model LIMIT 1) m ON true
    LEFT JOIN LATERAL (
      SELECT * FROM control.key_resources r
       WHERE r.key = i.id AND r.resource = i.model AND i.policy = 'listed' LIMIT 1) kr ON true
    LEFT JOIN LATERAL (
      SELECT array_agg(b.id ORDER BY b.id) AS ids,
             array_agg(greatest(b.window_start, month) ORDER BY b.id) AS windows,
             array_agg(CASE WHEN b.is_hard THEN
               b.limit_micro - CASE WHEN b.window_start >= month THEN b.spent + b.reserved ELSE 0 END
             END ORDER BY b.id) AS left_of,
             bool_and(b.id = ANY (locked)) AS are_locked
        FROM money.budgets b WHERE b.target = ANY (i.targets)) g ON true;

  -- 2. For nodes: what their executions may do, and which nodes are fenced: the lease was lost, the execution is
  --    ending, or the node was already charged.
  IF of_executions THEN
    pairs := pairs || money.execution_pairs(locked, moment, callers);
    SELECT array_agg(i.node IS NOT NULL AND (
                       NOT coalesce((i.p).goes_on AND n.state = 'Running' AND n.lease = i.lease, false)
                       OR n.reservation <> i.id
                       OR n.charge IS NOT NULL) ORDER BY i.ordinality),
           array_agg(n.call ORDER BY i.ordinality),
           array_agg(n.attempt ORDER BY i.ordinality)
      INTO fenced_of, call_of, try_of
      FROM (SELECT u.*, pairs[u.pair] AS p FROM unnest(items) WITH ORDINALITY AS u
            OFFSET 0) i
      LEFT JOIN LATERAL (
        SELECT * FROM money.execution_nodes e
         WHERE e.execution = (i.p).execution AND e.node = i.node
           AND e.execution BETWEEN oldest_execution AND newest_execution LIMIT 1) n ON true;
  END IF;

  -- 3. Which items were submitted before, and which instances are alive.
  SELECT ARRAY(SELECT r.id FROM money.reservations r WHERE r.id = ANY (ids)
               UNION ALL
               SELECT v.id FROM money.attempts v
                WHERE v.id = ANY (ids) AND v.id BETWEEN oldest_id AND newest_id),
         ARRAY(SELECT h.id FROM money.instances h WHERE h.id = ANY (instances) AND h.ended_at IS NULL)
    INTO known_ids, live_instances;
  IF cardinality(known_ids) > 0 THEN
    SELECT array_agg(CASE WHEN r.id IS NOT NULL THEN jsonb_build_object(
             'invocation', r.invocation,
             'attempt', r.attempt,
             'project', r.project,
             'key', r.key,
             'product', r.product,
             'outputCap', r.output_cap,
             'micro', r.micro,
             'price', money.price_snapshot(
               r.prompt_pico, r.completion_pico, r.request_pico, r.cached_pico, r.reasoning_pico,
               r.cache_write_pico)) END ORDER BY i.ord),
           array_agg(v.state ORDER BY i.ord)
      INTO again_of, closed_of
      FROM unnest(ids) WITH ORDINALITY AS i (id, ord)
      LEFT JOIN LATERAL (
        SELECT * FROM money.reservations r WHERE r.id = i.id AND i.id = ANY (known_ids) LIMIT 1) r ON true
      LEFT JOIN LATERAL (
        SELECT * FROM money.attempts v
         WHERE v.id = i.id AND i.id = ANY (known_ids) AND v.id BETWEEN oldest_id AND newest_id LIMIT 1) v ON true;
  END IF;
  IF is_keyed THEN
    SELECT array_agg(x.invocation ORDER BY i.ordinality),
           array_agg(x.fingerprint ORDER BY i.ordinality),
           array_agg(x.reservation ORDER BY i.ordinality),
           min(x.reservation),
           max(x.reservation)
      INTO first_invocation_of, first_fingerprint_of, first_reservation_of, oldest_earlier, newest_earlier
      FROM (SELECT u.key, u.ordinality, pairs[u.pair] AS p FROM unnest(items) WITH ORDINALITY AS u
            OFFSET 0) i
      LEFT JOIN LATERAL (
        SELECT * FROM money.idempotency_keys r
         WHERE r.project = (i.p).project AND r.scope = 'chat' AND r.key = i.key LIMIT 1) x ON true;
    IF oldest_earlier IS NOT NULL THEN
      SELECT array_agg(v.attempt ORDER BY i.ord),
             array_agg(CASE WHEN i.id IS NOT NULL THEN coalesce(v.state, 'Open') END ORDER BY i.ord),
             array_agg(v.answer_day ORDER BY i.ord)
        INTO first_attempt_of, first_state_of, first_day_of
        FROM unnest(first_reservation_of) WITH ORDINALITY AS i (id, ord)
        LEFT JOIN LATERAL (
          SELECT * FROM money.attempts v
           WHERE v.id = i.id AND v.id BETWEEN oldest_earlier AND newest_earlier LIMIT 1) v ON true;
    END IF;
  END IF;

  -- 4. All checks that do not depend on other items of the batch.
  SELECT array_agg(i.code ORDER BY i.ordinality),
         array_agg(i.micro ORDER BY i.ordinality),
         array_agg(i.output_cap ORDER BY i.ordinality),
         array_agg(CASE i.code WHEN 'context_limit' THEN i.prompt_tokens
                               ELSE greatest(i.prompt_tokens, i.file_tokens) END ORDER BY i.ordinality),
         array_agg(greatest(i.around, i.file_tokens)::bigint ORDER BY i.ordinality),
         array_agg(coalesce(i.call, i.first_invocation) ORDER BY i.ordinality),
         array_agg(coalesce(i.try, i.first_attempt + 1, 1) ORDER BY i.ordinality),
         array_fill(NULL::jsonb, ARRAY[cardinality(items)]),
         sum(greatest(i.micro, 1)) FILTER (WHERE i.code IS NULL)
           > min(least(
               (i.p).wallet_free,
               (i.p).limit_micro - (i.p).meter_spent - (i.p).meter_reserved,
               (i.p).max_micro - (i.p).ceiling_charged - (i.p).ceiling_reserved,
               (SELECT min(l) FROM unnest((i.p).budgets_left) l))) FILTER (WHERE i.code IS NULL)
    INTO code_of, micro_of, cap_of, prompt_of, around_of, invocation_of, attempt_of, facts_of, is_tight
    FROM (
      SELECT d.*,
             money.bound_micro( -- beyond the context it is refused, so the price only must not overflow
               (least(greatest(d.prompt_tokens, d.file_tokens), (d.p).context_length) * (d.p).factor_millionths + 999999)
                 / 1000000,
               (d.p).prompt_pico, (d.p).cache_write_pico, d.output_cap, (d.p).completion_pico, (d.p).request_pico) AS micro,
             CASE
               WHEN d.again IS NOT NULL THEN 'again'
               WHEN d.fenced THEN 'fenced'
               WHEN d.closed_state IS NOT NULL THEN 'closed'
               WHEN (d.p).key_code IS NOT NULL THEN (d.p).key_code
               WHEN d.selector <> (d.p).project THEN 'project_mismatch'
               WHEN d.kind <> (d.p).kind THEN 'model_not_found'
               WHEN (d.p).model_code IS NOT NULL THEN (d.p).model_code
               WHEN d.first_fingerprint <> decode(d.fingerprint, 'hex') THEN 'idempotency_mismatch'
               WHEN d.first_state = 'Open' THEN 'running'
               WHEN d.first_state = 'Settled' THEN 'replay'
               WHEN NOT d.parameters <@ (d.p).supported_parameters THEN 'unsupported_parameter'
               WHEN d.images > 0 AND (d.p).max_tokens_per_image IS NULL THEN 'images_unsupported'
               WHEN d.file_tokens > 0 AND NOT (d.p).takes_files THEN 'files_unsupported'
               WHEN d.max_tokens > (d.p).max_output_tokens
                 OR d.prompt_tokens + d.output_cap > (d.p).context_length THEN 'context_limit'
               WHEN d.instance IS NULL THEN 'would_admit' -- nothing is reserved for it
               WHEN NOT d.instance = ANY (live_instances) THEN 'instance_unknown'
             END AS code
        FROM (
          SELECT i.*,
                 coalesce(i.counted, (i.bytes::bigint * (i.p).tokens_per_byte_millionths + 999999) / 1000000)
                   + i.around AS prompt_tokens,
                 CASE WHEN i.max_tokens > 0 THEN i.max_tokens
                      ELSE least(8192, (i.p).max_output_tokens) END AS output_cap
            FROM (SELECT i.*,
                         i.messages * (i.p).per_message
                           + CASE WHEN i.tools > 0 THEN i.tools * (i.p).per_tool + (i.p).fixed_with_tools ELSE 0 END
                           + i.images * coalesce((i.p).max_tokens_per_image, 0) AS around, -- tokens that are not text
                         -- Files fill the context at most: their provider refuses what does not fit.
                         CASE WHEN coalesce(i.files, 0) > 0 THEN (i.p).context_length ELSE 0 END AS file_tokens
                    FROM (SELECT i.*, pairs[i.pair] AS p
                            FROM unnest(fenced_of, call_of, try_of, again_of, closed_of, first_invocation_of,
                                        first_fingerprint_of, first_attempt_of, first_state_of, items)
                            WITH ORDINALITY AS i (fenced, call, try, again, closed_state, first_invocation,
                                        first_fingerprint, first_attempt, first_state)
                          OFFSET 0) i
                  OFFSET 0) i
          OFFSET 0) d
      OFFSET 0) i;

  -- The facts reported with the code of a refusal.
  IF cardinality(array_remove(code_of, NULL)) > 0 THEN
    SELECT array_agg(CASE i.code
             WHEN 'key_revoked' THEN jsonb_build_object('rotatedTo', (i.p).rotated_to)
             WHEN 'key_expired' THEN jsonb_build_object('expiredAt', (i.p).expires_at)
             WHEN 'project_mismatch' THEN jsonb_build_object('project', (i.p).project)
             WHEN 'tag_mismatch' THEN jsonb_build_object('project', (i.p).project, 'tag', (i.p).tag)
             WHEN 'context_limit' THEN jsonb_build_object(
               'promptTokens', i.prompt_tokens,
               'outputCap', i.output_cap,
               'contextLength', (i.p).context_length,
               'maxOutputTokens', (i.p).max_output_tokens,
               'tokenizer', (i.p).tokenizer,
               'project', (i.p).project)
             WHEN 'unsupported_parameter' THEN jsonb_build_object('param', (
               SELECT u FROM unnest(i.parameters) u WHERE NOT u = ANY ((i.p).supported_parameters) LIMIT 1))
             WHEN 'running' THEN jsonb_build_object('invocation', i.invocation)
             WHEN 'replay' THEN jsonb_build_object(
               'invocation', i.invocation,
               'reservation', i.reservation,
               'day', i.day)
             WHEN 'again' THEN i.again
             WHEN 'closed' THEN jsonb_build_object('state', i.closed_state)
             ELSE CASE WHEN i.code IS NOT NULL THEN
               jsonb_build_object('tokenizer', (i.p).tokenizer, 'project', (i.p).project) END
           END ORDER BY i.ordinality)
      INTO facts_of
      FROM (SELECT u.*, pairs[u.pair] AS p
              FROM unnest(code_of, prompt_of, cap_of, invocation_of, first_reservation_of, first_day_of, again_of,
                          closed_of, items)
              WITH ORDINALITY AS u (code, prompt_tokens, output_cap, invocation, reservation, day, again, closed_state)
            OFFSET 0) i;
  END IF;

  -- Which wallets, meters or ceilings can't cover all remaining items (B4 of run_batch).
  IF is_tight THEN
    WITH item AS MATERIALIZED (
      SELECT (i.p).project,
             (i.p).wallet_free,
             (i.p).lineage,
             (i.p).limit_micro,
             (i.p).limit_micro - (i.p).meter_spent - (i.p).meter_reserved AS meter_free,
             (i.p).execution,
             (i.p).max_micro - (i.p).ceiling_charged - (i.p).ceiling_reserved AS ceiling_free,
             (i.p).budgets,
             (i.p).budgets_left,
             i.micro
        FROM (SELECT pairs[u.pair] AS p, u.micro FROM unnest(micro_of, code_of, items) AS u (micro, code)
               WHERE u.code IS NULL
              OFFSET 0) i
    )
    SELECT array_agg(s.project) INTO scarce FROM (
      SELECT u.project FROM item u GROUP BY u.project, u.wallet_free
      HAVING sum(greatest(u.micro, 1)) > u.wallet_free
      UNION ALL
      SELECT u.project FROM item u WHERE u.limit_micro IS NOT NULL
       GROUP BY u.project, u.lineage, u.meter_free
      HAVING sum(u.micro) > u.meter_free
      UNION ALL
      SELECT u.project FROM item u WHERE u.ceiling_free IS NOT NULL
       GROUP BY u.project, u.execution, u.ceiling_free
      HAVING sum(u.micro) > u.ceiling_free
      UNION ALL -- all projects that share a budget
      SELECT unnest(array_agg(u.project)) FROM item u, unnest(u.budgets, u.budgets_left) AS b (id, free)
       WHERE b.free IS NOT NULL GROUP BY b.id, b.free
      HAVING sum(u.micro) > b.free) s;
  END IF;

  -- 5. Of several new admissions under one idempotency key one is admitted; later copies are decided in the next batch.
  --    A refused call does not claim the key: if funds are scarce (6), a copy after a refused one is decided now.
  IF is_keyed THEN
    FOR n IN
      SELECT t.ordinality FROM (
        SELECT u.ordinality,
               row_number() OVER (PARTITION BY (pairs[u.pair]).project, u.key ORDER BY u.ordinality) AS copy
          FROM unnest(code_of, items) WITH ORDINALITY AS u (code)
         WHERE u.key IS NOT NULL AND u.code IS NULL) t
       WHERE t.copy > 1
    LOOP
      code_of[n] := 'copy';
      facts_of[n] := jsonb_build_object('project', pairs[items[n].pair].project);
    END LOOP;
  END IF;

  -- 6. If funds are scarce, items are decided one by one in order of arrival: first the ceiling of the execution, then
  --    the key's window, then the budgets, then the wallet (rules §2.3), which must not be empty even for a free call (money §3.1).
  IF scarce IS NOT NULL THEN
    FOR n IN 1 .. cardinality(items) LOOP
      CONTINUE WHEN code_of[n] IS NOT NULL AND code_of[n] <> 'copy'; -- already decided
      p := pairs[items[n].pair];
      CONTINUE WHEN NOT p.project = ANY (scarce);
      IF code_of[n] = 'copy' THEN
        CONTINUE WHEN p.project || ' ' || items[n].key = ANY (claimed_keys);
        code_of[n] := NULL;
      END IF;
      left_in_meter := coalesce((meter_left ->> p.lineage)::bigint, p.limit_micro - p.meter_spent - p.meter_reserved);
      left_in_ceiling := coalesce(
        (ceiling_left ->> p.execution)::bigint, p.max_micro - p.ceiling_charged - p.ceiling_reserved);
      left_in_wallet := coalesce((wallet_left ->> p.project)::bigint, p.wallet_free);
      over_budget := NULL;
      IF p.budgets IS NOT NULL THEN
        SELECT min(b.id) INTO over_budget FROM unnest(p.budgets, p.budgets_left) AS b (id, free)
         WHERE micro_of[n] > coalesce((budget_left ->> b.id)::bigint, b.free);
      END IF;
      least_micro := money.bound_micro( -- the lowest bound that an exact count could give
        (around_of[n] * p.factor_millionths + 999999) / 1000000,
        p.prompt_pico, p.cache_write_pico, cap_of[n], p.completion_pico, p.request_pico);
      IF micro_of[n] > left_in_ceiling THEN
        code_of[n] := 'ceiling_reached';
        facts_of[n] := jsonb_build_object(
          'tokenizer', p.tokenizer,
          'project', p.project,
          'maxMicro', p.max_micro,
          'chargedMicro', p.ceiling_charged,
          'reservedMicro', p.max_micro - p.ceiling_charged - left_in_ceiling,
          'neededMicro', micro_of[n],
          'leastMicro', least_micro);
      ELSIF micro_of[n] > left_in_meter THEN
        code_of[n] := 'key_limit';
        facts_of[n] := jsonb_build_object(
          'tokenizer', p.tokenizer,
          'project', p.project,
          'reset', p.limit_reset,
          'windowStart', p.window_start,
          'limitMicro', p.limit_micro,
          'spentMicro', p.meter_spent,
          'reservedMicro', p.limit_micro - p.meter_spent - left_in_meter,
          'neededMicro', micro_of[n],
          'leastMicro', least_micro);
      ELSIF over_budget IS NOT NULL THEN
        code_of[n] := 'budget_reached';
        facts_of[n] := (
          SELECT jsonb_build_object(
                   'tokenizer', p.tokenizer,
                   'project', p.project,
                   'kind', b.kind,
                   'subject', b.subject,
                   'windowStart', w.window_start,
                   'limitMicro', b.limit_micro,
                   'spentMicro', w.spent,
                   'reservedMicro', b.limit_micro - w.spent - coalesce((budget_left ->> b.id)::bigint, w.free),
                   'neededMicro', micro_of[n],
                   'leastMicro', least_micro)
            FROM money.budgets b,
                 LATERAL (SELECT u.*, CASE WHEN b.window_start >= month THEN b.spent ELSE 0 END AS spent
                            FROM unnest(p.budgets, p.budget_windows, p.budgets_left) AS u (id, window_start, free)
                           WHERE u.id = b.id) w
           WHERE b.id = over_budget);
        IF NOT refusing ? over_budget AND (facts_of[n] ->> 'limitMicro')::bigint - (facts_of[n] ->> 'spentMicro')::bigint
           < (CASE WHEN p.tokenizer IS NULL OR items[n].counted IS NOT NULL THEN micro_of[n] ELSE least_micro END) THEN
          refusing := refusing || jsonb_build_object(over_budget, jsonb_build_object(
            'id', over_budget,
            'kind', facts_of[n] -> 'kind',
            'subject', facts_of[n] -> 'subject',
            'window_start', facts_of[n] -> 'windowStart',
            'limit_micro', facts_of[n] -> 'limitMicro',
            'spent', facts_of[n] -> 'spentMicro',
            'refuses', true,
            'project', p.project));
        END IF;
      ELSIF greatest(micro_of[n], 1) > left_in_wallet THEN -- an empty wallet refuses even a free call
        code_of[n] := 'insufficient_budget';
        facts_of[n] := jsonb_build_object(
          'tokenizer', p.tokenizer,
          'project', p.project,
          'availableMicro', left_in_wallet,
          'reservedMicro', p.wallet_total - left_in_wallet,
          'neededMicro', greatest(micro_of[n], 1),
          'leastMicro', greatest(least_micro, 1),
          'affordableMaxTokens', CASE
            WHEN p.completion_pico > 0 THEN greatest(0, floor(
              (left_in_wallet::numeric * 1000000 - p.request_pico
               - (prompt_of[n] * p.factor_millionths + 999999) / 1000000 * coalesce(p.cache_write_pico, p.prompt_pico))
              / p.completion_pico))::bigint
            ELSE 0
          END);
      ELSE
        wallet_left := wallet_left || jsonb_build_object(p.project, left_in_wallet - micro_of[n]);
        IF left_in_meter IS NOT NULL THEN
          meter_left := meter_left || jsonb_build_object(p.lineage, left_in_meter - micro_of[n]);
        END IF;
        IF left_in_ceiling IS NOT NULL THEN
          ceiling_left := ceiling_left || jsonb_build_object(p.execution, left_in_ceiling - micro_of[n]);
        END IF;
        IF p.budgets IS NOT NULL THEN
          SELECT budget_left || coalesce(jsonb_object_agg(
                   b.id, coalesce((budget_left ->> b.id)::bigint, b.free) - micro_of[n]) FILTER (WHERE b.free IS NOT NULL), '{}')
            INTO budget_left FROM unnest(p.budgets, p.budgets_left) AS b (id, free);
        END IF;
        IF items[n].key IS NOT NULL THEN
          claimed_keys := claimed_keys || (p.project || ' ' || items[n].key);
        END IF;
      END IF;
    END LOOP;
  END IF;

  IF refusing <> '{}' AND NOT current_setting('transaction_read_only')::boolean THEN -- a check writes nothing
    PERFORM money.notify_full_budgets(moment, (SELECT jsonb_agg(b.value) FROM jsonb_each(refusing) b));
  END IF;

  -- 7. Write the admitted items.
  IF array_position(code_of, NULL) IS NOT NULL THEN
    WITH admitted AS MATERIALIZED (
      SELECT e.id,
             coalesce(e.invocation, e.id) AS invocation,
             e.attempt,
             e.instance,
             e.key AS idempotency_key,
             e.micro,
             e.cap,
             e.prompt,
             (e.p).project,
             (e.p).key,
             (e.p).lineage,
             (e.p).limit_micro,
             (e.p).window_start,
             (e.p).model,
             (e.p).prompt_pico,
             (e.p).completion_pico,
             (e.p).request_pico,
             (e.p).cached_pico,
             (e.p).reasoning_pico,
             (e.p).cache_write_pico,
             (e.p).seal,
             (e.p).execution,
             e.node,
             (e.p).tag,
             (e.p).budgets,
             (e.p).budget_windows,
             (e.p).journal_seq + row_number() OVER (PARTITION BY (e.p).project ORDER BY e.ordinality) AS seq
        FROM (SELECT u.*, pairs[u.pair] AS p
                FROM unnest(code_of, micro_of, cap_of, prompt_of, invocation_of, attempt_of, items)
                WITH ORDINALITY AS u (code, micro, cap, prompt, invocation, attempt)
               WHERE u.code IS NULL
              OFFSET 0) e
    ), reserved AS (
      INSERT INTO money.reservations (
        id,
        invocation,
        attempt,
        project,
        key,
        lineage,
        window_start,
        product,
        instance,
        micro,
        output_cap,
        prompt_pico,
        completion_pico,
        request_pico,
        cached_pico,
        reasoning_pico,
        cache_write_pico,
        keyed,
        admitted_at,
        deadline_at,
        execution,
        node,
        prompt_bound,
        tag,
        budgets,
        budget_windows
      )
      SELECT
        id,
        invocation,
        attempt,
        project,
        key,
        lineage,
        CASE WHEN limit_micro IS NOT NULL THEN window_start END,
        model,
        instance,
        micro,
        cap,
        prompt_pico,
        completion_pico,
        request_pico,
        cached_pico,
        reasoning_pico,
        cache_write_pico,
        idempotency_key IS NOT NULL,
        moment,
        moment + interval '330 seconds',
        execution,
        node,
        prompt,
        tag,
        budgets,
        budget_windows
        FROM admitted
    ), budgeted AS (
      SELECT b.id, b.window_start, sum(a.micro) AS micro
        FROM admitted a, unnest(a.budgets, a.budget_windows) AS b (id, window_start) GROUP BY 1, 2
    ), counted AS (
      UPDATE money.budgets b SET
        spent = CASE WHEN b.window_start = u.window_start THEN b.spent ELSE 0 END,
        reserved = CASE WHEN b.window_start = u.window_start THEN b.reserved ELSE 0 END + u.micro,
        window_start = u.window_start
        FROM budgeted u WHERE b.id = ANY (ARRAY(SELECT id FROM budgeted)) AND b.id = u.id
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
      SELECT project,
             max(seq) AS last_seq,
             sum(micro) AS reserved,
             sha256(min(seal) || convert_to(string_agg(
               seq || ' reserve ' || id || ' ' || micro || ' 0 0', E'\n' ORDER BY seq
             ), 'UTF8')) AS seal
        FROM admitted GROUP BY project
    ), sealed AS (
      INSERT INTO money.journal_blocks (project, last_seq, seal, at) SELECT project, last_seq, seal, moment FROM block
    )
    UPDATE money.wallets w SET reserved = w.reserved + b.reserved, journal_seq = b.last_seq, seal = b.seal
      FROM block b WHERE w.project = ANY (ARRAY(SELECT project FROM block)) AND w.project = b.project;

    IF is_keyed THEN
      INSERT INTO money.idempotency_keys AS x (project, scope, key, fingerprint, invocation, reservation, created_at)
      SELECT u.project, 'chat', u.key, decode(u.fingerprint, 'hex'), coalesce(u.invocation, u.id), u.id, moment
        FROM (SELECT i.*, (pairs[i.pair]).project FROM unnest(code_of, invocation_of, items) AS i (code, invocation)) u
       WHERE u.code IS NULL AND u.key IS NOT NULL
       ORDER BY u.project, u.key -- a fixed order, so that batches never deadlock
      ON CONFLICT (project, scope, key) DO UPDATE
        SET reservation = excluded.reservation,
            created_at = excluded.created_at -- kept from its newest attempt on (rules §5.1)
      WHERE x.invocation = excluded.invocation;
      -- A chat with a sandbox product claims its key without the wallet's lock (write_starts) and was first.
      GET DIAGNOSTICS n = ROW_COUNT;
      IF n < (SELECT count(u.key) FROM unnest(code_of, items) AS u (code) WHERE u.code IS NULL) THEN
        RAISE serialization_failure -- decided again, and refused
          USING MESSAGE = 'an idempotency key was taken by an execution while its call was being admitted';
      END IF;
    END IF;
    IF EXISTS (SELECT FROM money.attempts v
                WHERE v.id = ANY (ARRAY(
                  SELECT u.id FROM unnest(ids, code_of) AS u (id, code) WHERE u.code IS NULL))
                  AND v.id BETWEEN oldest_id AND newest_id) THEN
      RAISE serialization_failure -- decided again, and refused
        USING MESSAGE = 'an id was released while it was being admitted';
    END IF;
  END IF;

  SELECT json_agg(json_build_array(u.project, u.key, money.price_snapshot(
           u.prompt_pico, u.completion_pico, u.request_pico, u.cached_pico, u.reasoning_pico, u.cache_write_pico)))
    INTO callers_json FROM unnest(pairs) u;
  RETURN json_build_object(
    'code', code_of,
    'facts', facts_of,
    'invocation', invocation_of,
    'attempt', attempt_of,
    'outputCap', cap_of,
    'micro', micro_of,
    'callers', callers_json);
END $$;
