-- Admits one direct call, under the lock of its wallet (O1 of run_one). Returns what admit returns for it; null: nothing
-- was written.
-- needs: money.admission, money.admission_pair, money.callers, money.callable_models
CREATE OR REPLACE FUNCTION money.admit_one(
  moment timestamptz,
  wallet money.wallets, -- nulls: not locked
  caller money.admission_pair,
  item money.admission
) RETURNS json LANGUAGE plpgsql
AS $$
DECLARE
  k money.callers;
  m money.callable_models;
  meter money.meters;
  metered_from timestamptz(3);
  prompt bigint;
  cap integer;
  micro bigint;
  next_seq bigint := wallet.journal_seq + 1;
BEGIN
  IF wallet.project IS NULL OR item.instance IS NULL OR item.files > 0 THEN
    RETURN NULL;
  END IF;

  -- Who calls what.
  SELECT * INTO k FROM money.callers c WHERE c.hash = decode(caller.key_hash, 'hex');
  IF money.key_refusal(k, moment) IS NOT NULL OR item.selector <> k.project THEN
    RETURN NULL;
  END IF;
  IF k.tag IS NOT NULL AND caller.tag <> k.tag
    OR EXISTS (SELECT FROM money.budgets b WHERE b.tenant = k.tenant AND b.target IS NOT NULL) -- B12 of run_batch
  THEN
    RETURN NULL;
  END IF;
  SELECT * INTO m FROM money.callable_models c WHERE c.project = k.project AND c.id = caller.model;
  IF m.id IS NULL
    OR item.kind <> m.kind
    OR NOT item.parameters <@ m.supported_parameters
    OR (item.images > 0 AND m.max_tokens_per_image IS NULL)
    OR (k.policy = 'listed'
        AND NOT EXISTS (SELECT FROM control.key_resources r WHERE r.key = k.id AND r.resource = caller.model))
  THEN
    RETURN NULL;
  END IF;

  -- Whether it was submitted before, and by whom it is now.
  IF EXISTS (SELECT FROM money.reservations r WHERE r.id = item.id)
    OR EXISTS (SELECT FROM money.attempts v WHERE v.id = item.id)
    OR NOT EXISTS (SELECT FROM money.instances h WHERE h.id = item.instance AND h.ended_at IS NULL)
    OR (item.key IS NOT NULL AND EXISTS (
          SELECT FROM money.idempotency_keys x
           WHERE x.project = k.project AND x.scope = 'chat' AND x.key = item.key))
  THEN
    RETURN NULL;
  END IF;

  -- Bounds and funds.
  prompt := coalesce(item.counted, (item.bytes::bigint * m.tokens_per_byte_millionths + 999999) / 1000000)
    + item.messages * m.per_message
    + CASE WHEN item.tools > 0 THEN item.tools * m.per_tool + m.fixed_with_tools ELSE 0 END
    + item.images * coalesce(m.max_tokens_per_image, 0);
  cap := CASE WHEN item.max_tokens > 0 THEN item.max_tokens ELSE least(8192, m.max_output_tokens) END;
  IF item.max_tokens > m.max_output_tokens OR prompt + cap > m.context_length THEN
    RETURN NULL;
  END IF;
  micro := money.bound_micro(
    (prompt * m.factor_millionths + 999999) / 1000000,
    m.prompt_pico, m.cache_write_pico, cap, m.completion_pico, m.request_pico);
  IF greatest(micro, 1) > wallet.funded - wallet.settled - wallet.reserved THEN
    RETURN NULL;
  END IF;
  IF k.limit_micro IS NOT NULL THEN
    metered_from := money.window_start(k.limit_reset, moment);
    SELECT * INTO meter FROM money.meters t WHERE t.lineage = k.lineage AND t.window_start >= metered_from;
    metered_from := greatest(meter.window_start, metered_from);
    IF micro > k.limit_micro - coalesce(meter.spent + meter.reserved, 0) THEN
      RETURN NULL;
    END IF;
    INSERT INTO money.meters AS t (lineage, project, window_start, limit_micro, reserved)
    VALUES (k.lineage, k.project, metered_from, k.limit_micro, micro)
    ON CONFLICT (lineage) DO UPDATE SET
      spent = CASE WHEN t.window_start = excluded.window_start THEN t.spent ELSE 0 END,
      reserved = CASE WHEN t.window_start = excluded.window_start THEN t.reserved ELSE 0 END + excluded.reserved,
      window_start = excluded.window_start;
  END IF;

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
    prompt_bound,
    tag
  ) VALUES (
    item.id,
    item.id,
    1,
    k.project,
    k.id,
    k.lineage,
    metered_from,
    m.id,
    item.instance,
    micro,
    cap,
    m.prompt_pico,
    m.completion_pico,
    m.request_pico,
    m.cached_pico,
    m.reasoning_pico,
    m.cache_write_pico,
    item.key IS NOT NULL,
    moment,
    moment + interval '330 seconds',
    prompt,
    coalesce(k.tag, caller.tag)
  );
  INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
  VALUES (wallet.project, next_seq, 'reserve', item.id, -micro, micro, 0, 0, moment);
  wallet.seal := sha256(wallet.seal || convert_to(next_seq || ' reserve ' || item.id || ' ' || micro || ' 0 0', 'UTF8'));
  INSERT INTO money.journal_blocks (project, last_seq, seal, at)
  VALUES (wallet.project, next_seq, wallet.seal, moment);
  UPDATE money.wallets w SET reserved = w.reserved + micro, journal_seq = next_seq, seal = wallet.seal
   WHERE w.project = wallet.project;
  IF item.key IS NOT NULL THEN
    INSERT INTO money.idempotency_keys (project, scope, key, fingerprint, invocation, reservation, created_at)
    VALUES (k.project, 'chat', item.key, decode(item.fingerprint, 'hex'), item.id, item.id, moment)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE serialization_failure -- decided again, and refused
        USING MESSAGE = 'an idempotency key was taken by an execution while its call was being admitted';
    END IF;
  END IF;
  IF EXISTS (SELECT FROM money.attempts v WHERE v.id = item.id) THEN
    RAISE serialization_failure -- decided again, and refused
      USING MESSAGE = 'an id was released while it was being admitted';
  END IF;
  RETURN json_build_object(
    'code', ARRAY[NULL::text],
    'facts', ARRAY[NULL::jsonb],
    'invocation', ARRAY[NULL::text],
    'attempt', ARRAY[1],
    'outputCap', ARRAY[cap],
    'micro', ARRAY[micro],
    'callers', json_build_array(json_build_array(k.project, k.id, money.price_snapshot(
      m.prompt_pico, m.completion_pico, m.request_pico, m.cached_pico, m.reasoning_pico, m.cache_write_pico))));
END $$;
