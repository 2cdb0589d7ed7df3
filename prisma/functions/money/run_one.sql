-- Decides a batch of at most one admission and one closing, both of direct calls. The rules are those of run_batch; a
-- statement by primary key starts in a fraction of the time of one over lists.
--   O1  Only what goes well is decided here. An item that needs a refusal, a notice, a write-off or an earlier call is
--       left to run_batch, in the same transaction: close_one and admit_one then return null and have written nothing.
--   O2  A wallet that another session has locked is not waited for, so the order of two wallets cannot matter (B1 of run_batch).
-- An absent item is a row of nulls. Returns what run_batch returns.
-- needs: money.admission, money.admission_pair, money.closing, money.run_batch
CREATE OR REPLACE FUNCTION money.run_one(
  caller money.admission_pair,
  to_admit money.admission,
  to_close money.closing,
  OUT admissions text, -- or null
  OUT closings text, -- or null
  OUT products text, -- or null
  OUT at_ms bigint
) LANGUAGE plpgsql
  SET lock_timeout = '250ms' -- as in run_batch
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_mergejoin = off
AS $$
DECLARE
  wallet money.wallets;
  reservation money.reservations;
  moment timestamptz(3);
  is_left boolean := false;
BEGIN
  IF to_close.id IS NOT NULL THEN
    SELECT * INTO reservation FROM money.reservations r WHERE r.id = to_close.id;
    SELECT * INTO wallet FROM money.wallets w WHERE w.project = reservation.project FOR UPDATE SKIP LOCKED;
    moment := clock_timestamp(); -- B2 of run_batch
    closings := money.close_one(moment => moment, wallet => wallet, reservation => reservation, item => to_close);
    is_left := closings IS NULL;
  END IF;
  IF to_admit.id IS NOT NULL AND NOT is_left THEN
    SELECT * INTO wallet FROM money.wallets w
     WHERE w.project = (SELECT k.project FROM control.keys k WHERE k.hash = decode(caller.key_hash, 'hex'))
       FOR UPDATE SKIP LOCKED;
    moment := clock_timestamp();
    admissions := money.admit_one(moment => moment, wallet => wallet, caller => caller, item => to_admit);
    is_left := admissions IS NULL;
  END IF;
  IF is_left THEN
    SELECT b.admissions, coalesce(run_one.closings, b.closings), b.products, b.at_ms
      INTO admissions, closings, products, at_ms
      FROM money.run_batch(
        wait_for_locks => false,
        callers => CASE WHEN to_admit.id IS NULL THEN '{}' ELSE ARRAY[caller] END,
        to_admit => CASE WHEN to_admit.id IS NULL THEN '{}' ELSE ARRAY[to_admit] END,
        to_close => CASE WHEN to_close.id IS NULL OR run_one.closings IS NOT NULL THEN '{}' ELSE ARRAY[to_close] END,
        answers => '{}') b;
    IF closings IS NOT NULL THEN
      SET LOCAL synchronous_commit TO DEFAULT; -- that batch does not know of a closing decided here
    END IF;
    RETURN;
  END IF;
  at_ms := floor(extract(epoch FROM moment) * 1000);
  IF admissions IS NOT NULL THEN
    SELECT json_build_object(p.id, json_build_object(
             'providers', p.providers,
             'supported', p.supported_parameters,
             'maxOutputBytes', CASE WHEN p.kind <> 'chat' THEN p.max_output_bytes END))
      INTO products FROM control.products p WHERE p.id = caller.model;
    IF closings IS NULL AND to_admit.key IS NULL THEN
      SET LOCAL synchronous_commit = off; -- B11 of run_batch
    END IF;
  END IF;
END $$;
