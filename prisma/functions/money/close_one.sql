-- Settles or releases the reservation of one direct call, under the lock of its wallet (O1 of run_one). Returns what
-- close_batch returns for it; null: nothing was written.
-- needs: money.closing
CREATE OR REPLACE FUNCTION money.close_one(
  moment timestamptz,
  wallet money.wallets, -- nulls: not locked
  reservation money.reservations, -- nulls: there is none
  item money.closing
) RETURNS json LANGUAGE plpgsql
AS $$
DECLARE
  charged bigint := 0;
  entry text := 'release';
  next_seq bigint := wallet.journal_seq + 1;
  meter money.meters;
BEGIN
  IF wallet.project IS NULL
    OR reservation.execution IS NOT NULL
    OR reservation.budgets IS NOT NULL -- B12 of run_batch
    OR item.op NOT IN ('settle', 'release')
  THEN
    RETURN NULL;
  END IF;
  IF item.op = 'settle' THEN
    entry := 'settle';
    charged := money.charge_micro(
      item.prompt_tokens, reservation.prompt_pico, item.cached_tokens, reservation.cached_pico,
      item.cache_write_tokens, reservation.cache_write_pico, item.completion_tokens, reservation.completion_pico,
      item.reasoning_tokens, reservation.reasoning_pico, reservation.request_pico);
    IF charged > reservation.micro OR wallet.funded - wallet.settled - charged < wallet.notice_below[1] THEN
      RETURN NULL;
    END IF;
  END IF;
  IF reservation.window_start IS NOT NULL THEN
    SELECT * INTO meter FROM money.meters t
     WHERE t.lineage = reservation.lineage AND t.window_start = reservation.window_start;
    IF (meter.spent + charged) * 100 >= wallet.notice_percents[1] * meter.limit_micro THEN
      RETURN NULL;
    END IF;
  END IF;

  DELETE FROM money.reservations r WHERE r.id = item.id;
  IF NOT FOUND THEN -- closed before its wallet was locked
    RETURN NULL;
  END IF;
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
    admitted_at,
    closed_at,
    tag,
    first_token_ms,
    tries,
    cost_pico
  ) VALUES (
    item.id,
    reservation.invocation,
    reservation.attempt,
    CASE item.op WHEN 'settle' THEN 'Settled' ELSE 'Released' END,
    reservation.project,
    reservation.key,
    reservation.lineage,
    reservation.window_start,
    reservation.product,
    reservation.instance,
    reservation.micro,
    charged,
    reservation.prompt_pico,
    reservation.completion_pico,
    reservation.request_pico,
    reservation.cached_pico,
    reservation.reasoning_pico,
    reservation.cache_write_pico,
    item.prompt_tokens,
    item.completion_tokens,
    item.cached_tokens,
    item.reasoning_tokens,
    item.cache_write_tokens,
    coalesce(item.estimated, false),
    item.reason,
    reservation.admitted_at,
    moment,
    reservation.tag,
    item.first_token_ms,
    item.tries,
    CASE item.op WHEN 'settle' THEN item.cost_pico END
  );
  IF meter.lineage IS NOT NULL THEN -- a later window does not include this reservation
    UPDATE money.meters t SET reserved = t.reserved - reservation.micro, spent = t.spent + charged
     WHERE t.lineage = reservation.lineage;
  END IF;
  INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
  VALUES (wallet.project, next_seq, entry, item.id,
          reservation.micro - charged, -reservation.micro, charged, 0, moment);
  wallet.seal := sha256(wallet.seal || convert_to(
    next_seq || ' ' || entry || ' ' || item.id || ' ' || -reservation.micro || ' ' || charged || ' 0', 'UTF8'));
  INSERT INTO money.journal_blocks (project, last_seq, seal, at)
  VALUES (wallet.project, next_seq, wallet.seal, moment);
  UPDATE money.wallets w
     SET reserved = w.reserved - reservation.micro,
         settled = w.settled + charged,
         journal_seq = next_seq,
         seal = wallet.seal
   WHERE w.project = wallet.project;
  RETURN json_build_object(
    'outcome', ARRAY[CASE item.op WHEN 'settle' THEN 'settled' ELSE 'released' END],
    'charged', ARRAY[charged],
    'excess', ARRAY[0]);
END $$;
