-- Adds the calls that these projects closed since their last position to money.usage_hours, money.usage_days and
-- money.product_months, and all journal entries since then to money.journal_days, and advances the positions (money §9.2,
-- §9.5, §9.6).
--   U1  Entries of a wallet are numbered without gaps in commit order, so a transaction that sees one entry sees all
--       before it. Entries up to the position are counted, later ones are not; counts and position are written in this
--       transaction.
--   U2  One roll-up runs at a time across replicas: while another one runs, this returns null and does nothing.
--   U3  The amount is from the journal; hour, product, key, tag, tokens, durations and the provider's cost are from the
--       usage record; the user is who created the key, or started the execution in the console; the flow is that of the
--       execution that made the call. Journal days use the time of the entry, usage the time of the admission.
--   U4  Entries are searched from a day before the newest counted one, so that few partitions are read. If that leaves
--       a gap (the clock went back), the search is repeated without that bound.
--   U5  The months of all projects are few rows, so they are written once, at the end. No one waits for them: U2.
-- Returns the number of entries read: `max_entries` means that more are left.
CREATE OR REPLACE FUNCTION money.roll_up_usage(
  projects text[],
  max_entries integer,
  OUT entries integer -- or null
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan' -- as in run_batch
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_hashjoin = off
  SET enable_mergejoin = off
AS $$
DECLARE
  of_project text;
  last money.usage_positions;
  since timestamptz;
  found_entries bigint;
  found_seq bigint;
  found_at timestamptz;
  found_micro bigint;
  found_months money.product_months[];
  months money.product_months[] := '{}';
  one_call CONSTANT bytea := 1::bytea;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('money.roll_up_usage')) THEN -- U2
    RETURN;
  END IF;
  entries := 0;
  FOREACH of_project IN ARRAY projects LOOP
    EXIT WHEN entries >= max_entries;
    SELECT * INTO last FROM money.usage_positions p WHERE p.project = of_project;
    last.seq := coalesce(last.seq, 0);
    since := coalesce(last.at - interval '1 day', '-infinity');
    FOR round IN 1 .. 2 LOOP -- U4
      SELECT count(*), max(j.seq), max(j.at), sum(j.settled)
        INTO found_entries, found_seq, found_at, found_micro
        FROM money.journal j
       WHERE j.project = of_project AND j.seq > last.seq AND j.seq <= last.seq + max_entries - entries AND j.at >= since;
      EXIT WHEN round = 2 OR since = '-infinity' OR found_entries > 0 AND found_entries = found_seq - last.seq;
      since := '-infinity';
    END LOOP;
    CONTINUE WHEN found_entries = 0;
    WITH entry AS MATERIALIZED (
      SELECT j.kind, (j.at AT TIME ZONE 'UTC')::date AS day, j.reserved, j.settled, j.outside, v.*,
             coalesce(x.sandbox, '') AS sandbox,
             CASE WHEN v.key <> '' THEN (SELECT k.created_by FROM control.keys k WHERE k.id = v.key) ELSE x.user_id END AS "user"
        FROM money.journal j
        LEFT JOIN LATERAL (
          SELECT a.admitted_at, a.product, a.key, a.execution, a.prompt_tokens, a.completion_tokens, a.tag, a.reason, a.cost_pico,
                 money.latency_bucket(extract(epoch FROM a.closed_at - a.admitted_at) * 1000) AS duration,
                 money.latency_bucket(a.first_token_ms) AS first_token
            FROM money.attempts a WHERE j.kind IN ('settle', 'release') AND a.id = j.reference LIMIT 1) v ON true
        LEFT JOIN LATERAL (SELECT e.sandbox, e.user_id FROM money.executions e WHERE e.id = v.execution LIMIT 1) x ON true
       WHERE j.project = of_project AND j.seq > last.seq AND j.seq <= found_seq AND j.at >= since
    ), moved AS (
      INSERT INTO money.journal_days AS d (project, day, kind, product, tag, entries, reserved, settled, outside)
      SELECT of_project, day, kind,
             CASE kind WHEN 'settle' THEN coalesce(product, '') ELSE '' END,
             CASE kind WHEN 'settle' THEN coalesce(tag, '') ELSE '' END,
             count(*), sum(reserved), sum(settled), sum(outside)
        FROM entry GROUP BY 2, 3, 4, 5
      ON CONFLICT (project, day, kind, product, tag) DO UPDATE SET
        entries = d.entries + excluded.entries,
        reserved = d.reserved + excluded.reserved,
        settled = d.settled + excluded.settled,
        outside = d.outside + excluded.outside
    ), call AS MATERIALIZED (
      SELECT date_trunc('hour', admitted_at, 'UTC') AS hour, product, key, coalesce("user", '') AS "user", sandbox,
             coalesce(tag, '') AS tag, (kind = 'settle')::integer AS calls, (kind = 'release')::integer AS errors,
             CASE kind WHEN 'settle' THEN prompt_tokens END AS prompt,
             CASE kind WHEN 'settle' THEN completion_tokens END AS completion,
             settled, CASE kind WHEN 'settle' THEN cost_pico END AS cost_pico,
             CASE kind WHEN 'settle' THEN duration::bytea || one_call END AS duration, -- histograms of one call
             CASE kind WHEN 'settle' THEN first_token::bytea || one_call END AS first_token
        FROM entry
       WHERE product IS NOT NULL AND (kind = 'settle' OR kind = 'release' AND money.is_call_error(reason))
    ), used AS MATERIALIZED (
      SELECT hour, dimension, name,
             sum(calls) AS calls,
             sum(coalesce(prompt, 0)) AS prompt,
             sum(coalesce(completion, 0)) AS completion,
             sum(settled) AS micro,
             max(settled) AS max_micro,
             count(cost_pico) AS costed_calls,
             coalesce(sum(settled) FILTER (WHERE cost_pico IS NOT NULL), 0) AS costed_micro,
             coalesce(sum(cost_pico), 0) AS cost_pico,
             sum(errors) AS errors,
             coalesce(string_agg(duration, ''), '') AS durations,
             coalesce(string_agg(first_token, ''), '') AS first_tokens
        FROM call,
             LATERAL (VALUES ('all', ''), ('model', product), ('key', key), ('user', "user"), ('sandbox', sandbox), ('tag', tag)
             ) d (dimension, name)
       GROUP BY hour, dimension, name
    ), hours AS (
      INSERT INTO money.usage_hours AS u (
        project, dimension, name, hour, calls, prompt_tokens, completion_tokens, micro, max_micro,
        costed_calls, costed_micro, cost_pico, errors, durations, first_tokens)
      SELECT of_project, dimension, name, hour, calls, prompt, completion, micro, max_micro,
             costed_calls, costed_micro, cost_pico, errors,
             money.pack_histogram(durations), money.pack_histogram(first_tokens)
        FROM used
      ON CONFLICT (project, dimension, name, hour) DO UPDATE SET
        calls = u.calls + excluded.calls,
        prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
        completion_tokens = u.completion_tokens + excluded.completion_tokens,
        micro = u.micro + excluded.micro,
        max_micro = greatest(u.max_micro, excluded.max_micro),
        costed_calls = u.costed_calls + excluded.costed_calls,
        costed_micro = u.costed_micro + excluded.costed_micro,
        cost_pico = u.cost_pico + excluded.cost_pico,
        errors = u.errors + excluded.errors,
        durations = money.pack_histogram(u.durations || excluded.durations),
        first_tokens = money.pack_histogram(u.first_tokens || excluded.first_tokens)
    ), days AS (
      INSERT INTO money.usage_days AS u (
        project, dimension, name, day, calls, prompt_tokens, completion_tokens, micro,
        costed_calls, costed_micro, cost_pico, errors, durations, first_tokens)
      SELECT of_project, dimension, name, date_trunc('day', hour, 'UTC'),
             sum(calls), sum(prompt), sum(completion), sum(micro), sum(costed_calls), sum(costed_micro), sum(cost_pico),
             sum(errors), money.pack_histogram(string_agg(durations, '')), money.pack_histogram(string_agg(first_tokens, ''))
        FROM used GROUP BY 2, 3, 4
      ON CONFLICT (project, dimension, name, day) DO UPDATE SET
        calls = u.calls + excluded.calls,
        prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
        completion_tokens = u.completion_tokens + excluded.completion_tokens,
        micro = u.micro + excluded.micro,
        costed_calls = u.costed_calls + excluded.costed_calls,
        costed_micro = u.costed_micro + excluded.costed_micro,
        cost_pico = u.cost_pico + excluded.cost_pico,
        errors = u.errors + excluded.errors,
        durations = money.pack_histogram(u.durations || excluded.durations),
        first_tokens = money.pack_histogram(u.first_tokens || excluded.first_tokens)
    )
    SELECT array_agg(m::money.product_months) INTO found_months
      FROM (
        SELECT date_trunc('month', hour AT TIME ZONE 'UTC')::date, name, sum(calls)::bigint, sum(prompt)::bigint,
               sum(completion)::bigint, sum(micro)::bigint, sum(costed_calls)::bigint, sum(costed_micro)::bigint,
               sum(cost_pico)::numeric(38)
          FROM used WHERE dimension = 'model' AND calls > 0 GROUP BY 1, 2
      ) m;
    months := months || found_months;
    INSERT INTO money.usage_positions AS p (project, seq, at, micro)
    VALUES (of_project, found_seq, found_at, found_micro)
    ON CONFLICT (project) DO UPDATE SET
      seq = excluded.seq,
      at = greatest(p.at, excluded.at),
      micro = p.micro + excluded.micro;
    entries := entries + found_entries;
  END LOOP;
  INSERT INTO money.product_months AS m -- U5
  SELECT month, product, sum(calls), sum(prompt_tokens), sum(completion_tokens), sum(micro), sum(costed_calls),
         sum(costed_micro), sum(cost_pico)
    FROM unnest(months) GROUP BY month, product
  ON CONFLICT (month, product) DO UPDATE SET
    calls = m.calls + excluded.calls,
    prompt_tokens = m.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = m.completion_tokens + excluded.completion_tokens,
    micro = m.micro + excluded.micro,
    costed_calls = m.costed_calls + excluded.costed_calls,
    costed_micro = m.costed_micro + excluded.costed_micro,
    cost_pico = m.cost_pico + excluded.cost_pico;
END $$;
