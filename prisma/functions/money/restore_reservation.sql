-- Restores the reservation of a direct call that Postgres has lost: the admission was answered before it was on disk,
-- and the server failed (money §4.5). Its settlement follows and is charged as if nothing had been lost.
--   R1  An id with a reservation or a usage record was not lost, and nothing happens.
--   R2  The wallet, the limit of the key and hard budgets win. Other calls may have been admitted with the money that was free again,
--       so no more is reserved than is left; the rest of the charge is an excess (money §3.2).
--   R3  What was fixed at admission (bound, price; B5 of run_batch) comes from the receipt. The spending window is the
--       current one, and the deadline counts from now.
--   R4  A project may have been deleted meanwhile, with its keys. Its call is charged all the same, without a limit or budget.
-- The arguments are what the ledger has signed in the receipt of the admission. Returns whether it was restored.
-- needs: money.callers, money.budget_targets
CREATE OR REPLACE FUNCTION money.restore_reservation(
  call text,
  of_project text,
  of_key text,
  of_product text,
  of_instance text,
  bound bigint,
  cap integer,
  price text[], -- pico: prompt, completion, request, cached, reasoning, written to the cache; the last three may be null
  admitted_ms bigint,
  of_tag text, -- that the call named; null: none
  OUT restored boolean
) LANGUAGE plpgsql
  SET lock_timeout = '250ms' -- as in run_batch
AS $$
DECLARE
  w money.wallets;
  k money.callers;
  month timestamptz;
  counts text[]; -- budgets that it counts towards
  counts_from timestamptz(3)[];
  least_left bigint;
  meter money.meters;
  metered_from timestamptz(3);
  moment timestamptz(3);
  admitted timestamptz(3) := to_timestamp(admitted_ms / 1000.0);
  reserves bigint := bound;
BEGIN
  INSERT INTO money.wallets (project) VALUES (of_project) ON CONFLICT DO NOTHING;
  SELECT * INTO w FROM money.wallets WHERE project = of_project FOR UPDATE; -- B1 of run_batch
  SELECT * INTO k FROM money.callers c WHERE c.id = of_key AND c.project = of_project;
  counts := ARRAY(
    SELECT b.id FROM money.budgets b
     WHERE b.target = ANY (money.budget_targets(k.tenant, k.created_by, k.team, coalesce(k.tag, of_tag)))
     ORDER BY b.id FOR UPDATE); -- B12 of run_batch
  moment := clock_timestamp();
  month := money.window_start('monthly', moment);
  restored := NOT EXISTS (SELECT FROM money.reservations r WHERE r.id = call)
    AND NOT EXISTS (SELECT FROM money.attempts v WHERE v.id = call); -- R1
  IF NOT restored THEN
    RETURN;
  END IF;

  reserves := least(reserves, w.funded - w.settled - w.reserved); -- R2
  IF k.limit_micro IS NOT NULL THEN
    metered_from := money.window_start(k.limit_reset, moment);
    SELECT * INTO meter FROM money.meters t WHERE t.lineage = k.lineage AND t.window_start >= metered_from;
    metered_from := greatest(meter.window_start, metered_from);
    reserves := least(reserves, k.limit_micro - coalesce(meter.spent + meter.reserved, 0));
  END IF;
  IF cardinality(counts) > 0 THEN
    SELECT array_agg(greatest(b.window_start, month) ORDER BY b.id),
           min(b.limit_micro - CASE WHEN b.window_start >= month THEN b.spent + b.reserved ELSE 0 END) FILTER (WHERE b.is_hard)
      INTO counts_from, least_left FROM money.budgets b WHERE b.id = ANY (counts);
    reserves := least(reserves, least_left);
  END IF;
  reserves := greatest(reserves, 0); -- a limit may have been lowered
  UPDATE money.budgets b SET
    spent = CASE WHEN b.window_start >= month THEN b.spent ELSE 0 END,
    reserved = CASE WHEN b.window_start >= month THEN b.reserved ELSE 0 END + reserves,
    window_start = greatest(b.window_start, month)
   WHERE b.id = ANY (counts);
  IF metered_from IS NOT NULL THEN
    INSERT INTO money.meters AS t (lineage, project, window_start, limit_micro, reserved)
    VALUES (k.lineage, of_project, metered_from, k.limit_micro, reserves)
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
    tag,
    budgets,
    budget_windows
  ) VALUES (
    call,
    call,
    1,
    of_project,
    of_key,
    coalesce(k.lineage, of_key), -- R4
    metered_from,
    of_product,
    of_instance,
    reserves,
    cap,
    price[1]::bigint,
    price[2]::bigint,
    price[3]::bigint,
    price[4]::bigint,
    price[5]::bigint,
    price[6]::bigint,
    false,
    admitted,
    moment + interval '330 seconds',
    coalesce(k.tag, of_tag),
    nullif(counts, '{}'),
    counts_from
  );
  IF EXISTS (SELECT FROM money.attempts v WHERE v.id = call) THEN
    RAISE serialization_failure -- its settlement is repeated, and fenced
      USING MESSAGE = 'an id was released while it was being restored';
  END IF;
  w.journal_seq := w.journal_seq + 1;
  w.seal := sha256(w.seal || convert_to(w.journal_seq || ' reserve ' || call || ' ' || reserves || ' 0 0', 'UTF8'));
  INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
  VALUES (of_project, w.journal_seq, 'reserve', call, -reserves, reserves, 0, 0, moment);
  INSERT INTO money.journal_blocks (project, last_seq, seal, at) VALUES (of_project, w.journal_seq, w.seal, moment);
  UPDATE money.wallets SET reserved = reserved + reserves, journal_seq = w.journal_seq, seal = w.seal
   WHERE project = of_project;
END $$;
