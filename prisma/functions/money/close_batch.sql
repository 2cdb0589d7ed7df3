-- Closes reservations. `settle` charges the usage, capped at the reserved amount. The rules of batches are B1 to B10 of
-- run_batch. `of_executions` selects which reservations may be closed, those of nodes or those of direct calls; the
-- others are 'unknown' (B9 of run_batch). `locked` are the projects whose wallets are locked, and the budgets. `answer_day` is the day under which responses of this batch were saved; null:
-- none were. Returns one json object of lists in the order of the items: outcome, charged and excess micro.
-- needs: money.closing
CREATE OR REPLACE FUNCTION money.close_batch(
  of_executions boolean,
  locked text[],
  moment timestamptz,
  answer_day date,
  items money.closing[]
) RETURNS json LANGUAGE plpgsql
AS $$
DECLARE
  ids text[];
  outcome_of text[];
  charged_of bigint[];
  excess_of bigint[];
  done integer[];
  outcomes text[];
  charges bigint[];
  excesses bigint[];
  products text[];
  prompt_bounds bigint[];
  raised_products text[];
  raised_factors bigint[];
  low_wallets jsonb; -- wallets now below a threshold, and windows now above one (money §10)
  full_windows jsonb;
  full_budgets jsonb;
  placeholders text[];
  tombstones text[] := '{}';
  n integer;
  oldest_id text; -- B10 of run_batch
  newest_id text;
  charged_ids text[];
  charged_executions text[];
  charged_nodes text[];
  oldest_execution text;
  newest_execution text;
BEGIN
  SELECT array_agg(i.id ORDER BY i.ordinality), min(i.id), max(i.id) INTO ids, oldest_id, newest_id
    FROM unnest(items) WITH ORDINALITY AS i;

  -- Items with an open reservation that may be closed now.
  WITH item AS MATERIALIZED (
    SELECT i.*, i.ordinality AS ord FROM unnest(items) WITH ORDINALITY AS i
  ), ended AS (
    DELETE FROM money.reservations r USING item i
     WHERE r.id = ANY (ids) AND r.id = i.id
       AND r.project = ANY (locked) -- if it was admitted meanwhile, its wallet may be unlocked
       AND coalesce(r.budgets <@ locked, true)
       AND (r.execution IS NOT NULL) = of_executions
       AND (i.op <> 'expire' OR r.deadline_at <= moment OR NOT EXISTS (
             SELECT FROM money.instances h WHERE h.id = r.instance AND h.ended_at IS NULL))
    RETURNING r.*, i.ord, i.op, i.prompt_tokens, i.completion_tokens, i.cached_tokens, i.reasoning_tokens,
              i.cache_write_tokens, i.estimated, i.content_type, i.reason, i.first_token_ms, i.tries, i.cost_pico
  ), priced AS (
    SELECT *,
           CASE op
             WHEN 'settle' THEN money.charge_micro(
               prompt_tokens, prompt_pico, cached_tokens, cached_pico, cache_write_tokens, cache_write_pico,
               completion_tokens, completion_pico, reasoning_tokens, reasoning_pico, request_pico)
             ELSE 0
           END AS cost
      FROM ended
  ), charge AS MATERIALIZED (
    SELECT p.*,
           least(p.cost, p.micro) AS charged,
           greatest(p.cost - p.micro, 0) AS excess,
           CASE p.op WHEN 'settle' THEN 'settle' ELSE 'release' END AS entry,
           w.seal,
           w.notice_percents,
           w.journal_seq + row_number() OVER (PARTITION BY p.project ORDER BY p.ord) AS seq
      FROM priced p
      JOIN money.wallets w ON w.project = p.project AND w.project = ANY (ARRAY(SELECT project FROM ended))
  ), recorded AS (
    INSERT INTO money.attempts (
      id,
      invocation,
      attempt,
      state,
      project,
      key,
      lineage,
      window_start,
      product,
      instance,
      reserved_micro,
      charged_micro,
      prompt_pico,
      completion_pico,
      request_pico,
      cached_pico,
      reasoning_pico,
      cache_write_pico,
      prompt_tokens,
      completion_tokens,
      cached_tokens,
      reasoning_tokens,
      cache_write_tokens,
      estimated,
      reason,
      answer_day,
      admitted_at,
      closed_at,
      execution,
      node,
      tag,
      budgets,
      budget_windows,
      first_token_ms,
      tries,
      cost_pico
    )
    SELECT
      id,
      invocation,
      attempt,
      CASE op WHEN 'settle' THEN 'Settled' ELSE 'Released' END,
      project,
      key,
      lineage,
      window_start,
      product,
      instance,
      micro,
      charged,
      prompt_pico,
      completion_pico,
      request_pico,
      cached_pico,
      reasoning_pico,
      cache_write_pico,
      prompt_tokens,
      completion_tokens,
      cached_tokens,
      reasoning_tokens,
      cache_write_tokens,
      coalesce(estimated, false),
      reason,
      CASE WHEN content_type IS NOT NULL THEN answer_day END,
      admitted_at,
      moment,
      execution,
      node,
      tag,
      budgets,
      budget_windows,
      first_token_ms,
      tries,
      CASE op WHEN 'settle' THEN cost_pico END
      FROM charge
  ), budgeting AS (
    SELECT b.id, b.window_start, sum(c.micro) AS micro, sum(c.charged) AS charged, min(c.project) AS project
      FROM charge c, unnest(c.budgets, c.budget_windows) AS b (id, window_start) GROUP BY 1, 2
  ), budgeted AS (
    UPDATE money.budgets b SET reserved = b.reserved - s.micro, spent = b.spent + s.charged
      FROM budgeting s
     WHERE b.id = ANY (ARRAY(SELECT id FROM budgeting))
       AND b.id = s.id
       AND b.window_start = s.window_start -- a later window does not include this reservation
    RETURNING b.id, b.kind, b.subject, b.target, b.window_start, b.limit_micro, b.spent, s.project
  ), metering AS (
    SELECT lineage, window_start, sum(micro) AS micro, sum(charged) AS charged, max(key) AS key,
           min(notice_percents) AS percents
      FROM charge WHERE window_start IS NOT NULL GROUP BY lineage, window_start
  ), metered AS (
    UPDATE money.meters t SET reserved = t.reserved - s.micro, spent = t.spent + s.charged
      FROM metering s
     WHERE t.lineage = ANY (ARRAY(SELECT lineage FROM metering))
       AND t.lineage = s.lineage
       AND t.window_start = s.window_start -- a later window does not include this reservation
    RETURNING t.lineage, t.project, t.window_start, t.limit_micro, t.spent, s.charged, s.key, s.percents
  ), written AS (
    INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
    SELECT project, seq, entry, id, micro - charged, -micro, charged, 0, moment FROM charge
  ), block AS (
    SELECT project,
           max(seq) AS last_seq,
           sum(micro) AS freed,
           sum(charged) AS settled,
           sha256(min(seal) || convert_to(string_agg(
             seq || ' ' || entry || ' ' || id || ' ' || -micro || ' ' || charged || ' 0', E'\n' ORDER BY seq
           ), 'UTF8')) AS seal
      FROM charge GROUP BY project
  ), sealed AS (
    INSERT INTO money.journal_blocks (project, last_seq, seal, at) SELECT project, last_seq, seal, moment FROM block
  ), moved AS (
    UPDATE money.wallets w
       SET reserved = w.reserved - b.freed,
           settled = w.settled + b.settled,
           journal_seq = b.last_seq,
           seal = b.seal
      FROM block b WHERE w.project = ANY (ARRAY(SELECT project FROM block)) AND w.project = b.project
    RETURNING w.project, w.journal_seq, w.funded - w.settled AS remaining, b.settled AS charged, w.notice_below AS below
  )
  SELECT array_agg(ord::integer ORDER BY ord),
         array_agg(CASE op WHEN 'settle' THEN 'settled' ELSE 'released' END ORDER BY ord),
         array_agg(charged ORDER BY ord),
         array_agg(excess ORDER BY ord),
         array_agg(product ORDER BY ord),
         array_agg(prompt_bound ORDER BY ord),
         (SELECT jsonb_agg(m) FROM moved m WHERE m.remaining < m.below[1]),
         (SELECT jsonb_agg(t) FROM metered t WHERE t.spent * 100 >= t.percents[1] * t.limit_micro),
         (SELECT jsonb_agg(b) FROM budgeted b WHERE b.target IS NOT NULL AND b.spent * 100 >= 80 * b.limit_micro)
    INTO done, outcomes, charges, excesses, products, prompt_bounds, low_wallets, full_windows, full_budgets FROM charge;
  IF low_wallets IS NOT NULL OR full_windows IS NOT NULL THEN
    PERFORM money.notify_threshold_crossings(moment, low_wallets, full_windows);
  END IF;
  IF full_budgets IS NOT NULL THEN
    PERFORM money.notify_full_budgets(moment, full_budgets);
  END IF;
  IF 0 < ANY (excesses) THEN
    INSERT INTO money.write_offs (reservation, kind, micro, product, at)
    SELECT ids[ord], 'excess', excess, product, moment
      FROM unnest(done, excesses, products) AS t (ord, excess, product) WHERE excess > 0;
    SELECT array_agg(product), array_agg((tokens * 1000000 + greatest(bound, 1) - 1) / greatest(bound, 1))
      INTO raised_products, raised_factors
      FROM (SELECT t.product, t.bound, items[t.ord].prompt_tokens::bigint AS tokens
              FROM unnest(done, excesses, products, prompt_bounds) AS t (ord, excess, product, bound)
             WHERE t.excess > 0) t
     WHERE tokens > bound;
    IF raised_products IS NOT NULL THEN
      PERFORM money.raise_factors(raised_products, raised_factors); -- money §2.5
    END IF;
  END IF;

  -- A node is charged once. No index can span all partitions of attempts, so its row enforces it, under the wallet's
  -- lock.
  IF of_executions AND 'settled' = ANY (outcomes) THEN
    SELECT array_agg(v.id), array_agg(v.execution), array_agg(v.node), min(v.execution), max(v.execution)
      INTO charged_ids, charged_executions, charged_nodes, oldest_execution, newest_execution
      FROM money.attempts v
     WHERE v.id = ANY (ARRAY(SELECT ids[o] FROM unnest(done, outcomes) t (o, outcome) WHERE outcome = 'settled'))
       AND v.id BETWEEN oldest_id AND newest_id;
    UPDATE money.execution_nodes n SET charge = c.id
      FROM unnest(charged_ids, charged_executions, charged_nodes) AS c (id, execution, node)
     WHERE n.execution = ANY (charged_executions) AND n.execution BETWEEN oldest_execution AND newest_execution
       AND n.execution = c.execution AND n.node = c.node AND n.charge IS NULL;
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n <> cardinality(charged_ids) THEN
      RAISE unique_violation USING MESSAGE = 'a node is charged once: it has a charge already, or it is not there';
    END IF;
  END IF;
  IF cardinality(items) = 0 THEN
    RETURN json_build_object('outcome', '{}'::text[], 'charged', '{}'::text[], 'excess', '{}'::text[]);
  ELSIF cardinality(done) = cardinality(items) THEN
    RETURN json_build_object('outcome', outcomes, 'charged', charges, 'excess', excesses);
  END IF;

  outcome_of := array_fill(NULL::text, ARRAY[cardinality(items)]);
  charged_of := array_fill(0::bigint, ARRAY[cardinality(items)]);
  excess_of := charged_of;
  IF done IS NOT NULL THEN
    FOR n IN 1 .. cardinality(done) LOOP
      outcome_of[done[n]] := outcomes[n];
      charged_of[done[n]] := charges[n];
      excess_of[done[n]] := excesses[n];
    END LOOP;
  END IF;

  -- Releasing an unknown id leaves a tombstone, which refuses its admission if that arrives later. The admission may be
  -- in another batch right now, and there is no wallet to lock, so the primary key of reservations decides which was
  -- first. For a node no admission can arrive anymore, because its lease has ended.
  IF NOT of_executions AND EXISTS (SELECT FROM unnest(items) i WHERE i.op = 'release') THEN
    WITH placed AS ( -- waits for an uncommitted admission of this id; the next batch releases its reservation
      INSERT INTO money.reservations (
        id,
        invocation,
        attempt,
        project,
        key,
        lineage,
        product,
        instance,
        micro,
        output_cap,
        prompt_pico,
        completion_pico,
        request_pico,
        keyed,
        admitted_at,
        deadline_at
      )
      SELECT id, id, 1, '', '', '', '', '', 0, 0, 0, 0, 0, false, moment, moment
        FROM unnest(outcome_of, items) AS t (outcome)
       WHERE op = 'release' AND outcome IS NULL
         AND (SELECT r.id FROM money.reservations r WHERE r.id = t.id) IS NULL
         AND (SELECT v.id FROM money.attempts v
               WHERE v.id = t.id AND v.id BETWEEN oldest_id AND newest_id) IS NULL
       ORDER BY id ON CONFLICT DO NOTHING RETURNING id
    ) SELECT array_agg(id) INTO placeholders FROM placed;
    IF placeholders IS NOT NULL THEN
      WITH tombstone AS (
        INSERT INTO money.attempts (id, invocation, attempt, state, reason, closed_at)
        SELECT i, i, 1, 'Released', 'released before admission', moment FROM unnest(placeholders) i
        ON CONFLICT DO NOTHING RETURNING id
      ) SELECT array_agg(id) INTO tombstones FROM tombstone;
      DELETE FROM money.reservations WHERE id = ANY (placeholders);
    END IF;
  END IF;

  -- The other items have no open reservation that may be closed now: already closed, not yet due, not locked, or never
  -- admitted.
  WITH found AS MATERIALIZED (
    SELECT i.id,
           i.op,
           i.ordinality AS ord,
           r.id IS NOT NULL AS open,
           r.project AS open_project,
           coalesce(r.budgets <@ locked, true) AS budgets_locked,
           v.state,
           v.charged_micro,
           v.product,
           (coalesce(r.execution, v.execution) IS NOT NULL) <> of_executions
             AND coalesce(r.project, v.project) IS NOT NULL AS of_others,
           CASE WHEN v.id IS NOT NULL AND i.op = 'settle' THEN money.charge_micro(
             i.prompt_tokens, v.prompt_pico, i.cached_tokens, v.cached_pico, i.cache_write_tokens, v.cache_write_pico,
             i.completion_tokens, v.completion_pico, i.reasoning_tokens, v.reasoning_pico, v.request_pico) END AS cost
      FROM unnest(outcome_of, items) WITH ORDINALITY AS i (outcome)
      LEFT JOIN LATERAL (SELECT * FROM money.reservations r WHERE r.id = i.id LIMIT 1) r ON true
      LEFT JOIN LATERAL (
        SELECT * FROM money.attempts v
         WHERE v.id = i.id AND v.id BETWEEN oldest_id AND newest_id LIMIT 1) v ON true
     WHERE i.outcome IS NULL
  ), fenced AS ( -- the response arrived after its reservation had ended: written off, not charged to the project
    INSERT INTO money.write_offs (reservation, kind, micro, product, at)
    SELECT id, 'fenced', cost, product, moment FROM found
     WHERE op = 'settle' AND state = 'Released' AND NOT of_others
    ON CONFLICT DO NOTHING
  )
  SELECT array_agg(ord::integer),
         array_agg(CASE
           WHEN of_others THEN 'unknown'
           WHEN open AND op = 'expire' AND open_project = ANY (locked) AND budgets_locked THEN 'alive'
           WHEN open THEN 'deferred'
           WHEN state = 'Settled' THEN 'settled'
           WHEN state = 'Released' AND op = 'settle' THEN 'fenced'
           WHEN state = 'Released' THEN 'released'
           WHEN op = 'release' AND NOT of_executions THEN
             CASE WHEN id = ANY (tombstones) THEN 'released' ELSE 'deferred' END
           ELSE 'unknown'
         END),
         array_agg(CASE WHEN of_others THEN 0 ELSE coalesce(charged_micro, 0) END)
    INTO done, outcomes, charges FROM found;
  FOR n IN 1 .. cardinality(done) LOOP
    outcome_of[done[n]] := outcomes[n];
    charged_of[done[n]] := charges[n];
  END LOOP;
  RETURN json_build_object('outcome', outcome_of, 'charged', charged_of, 'excess', excess_of);
END $$;
