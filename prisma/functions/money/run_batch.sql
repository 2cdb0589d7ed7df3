-- The money core: one call decides and writes a whole batch in one round trip. `services/ledger/oracle/` implements the
-- same rules as a pure function; a test compares the two.
--
--   B1  The first statement that takes locks only takes locks: on the wallets, in id order. Every writer of a project's
--       money locks its wallet first, so this lock also covers its meters, reservations and idempotency keys.
--   B2  All facts are read after the locks, by later statements (READ COMMITTED: each sees what is committed by then),
--       and compared with a single time of the database's clock.
--   B3  Closings come before admissions: they only free money.
--   B4  Admissions are decided in order of arrival, and a refused one consumes nothing. If a wallet and its meters
--       cover all items, order does not matter and one statement decides; otherwise items are decided one by one.
--   B5  A bound, a price and a window are fixed at admission; a closing reads them from its reservation.
--   B6  Every movement is a journal entry, and each batch seals its entries per wallet.
--   B7  Nothing here raises for a business reason. An error (a CHECK, a bug) rolls back the whole batch; the caller
--       then splits it.
--   B8  No plan may depend on statistics: they are taken from tables that are empty at one moment and have thousands of
--       rows the next. So tables are read by `= ANY` of an array or by a single-row subquery, which leave the planner
--       only one index probe per item; the fetched rows are joined by hash.
--   B9  A node of an execution calls under a lease, which is read after the wallet's lock. Code that ends the lease of
--       a paid node also holds that lock and closes the reservation in the same transaction, so no reservation outlives
--       its lease. Nothing else may close it: closings of direct calls never touch reservations of executions, and vice
--       versa.
--   B10  Tables partitioned by time are always also restricted to a range of ids held in two variables: Postgres then
--        prunes all other partitions before it runs a statement.
--   B11  A batch that only admits direct calls without an idempotency key commits without waiting for the disk. The log
--        is sequential, so a settlement on disk has its admission on disk before it; and if the server fails between
--        the two, the settlement restores what was lost (money.restore_reservation).
--   B12  Budgets are shared by projects, so each is locked by its row: taken after all wallets (and after
--        executions, in write_executions), in id order, before anything is written. `locked` names the projects and the
--        budgets; an item of which one is not locked is 'deferred'. Most organizations have none, and pay for one probe
--        of an index.
--
-- `wait_for_locks` waits for wallets locked by other sessions; without it their items return 'deferred'. `callers` are
-- the distinct pairs of caller and model, those of executions last. No id is in one batch twice. `answers` are the
-- responses to save, in the order of the closings that have a content type.
-- Returns JSON: admissions and closings as those two functions return them, and for each product its providers,
-- supported parameters and, if it generates images or audio, their size limits.
-- needs: money.admission, money.admission_pair, money.closing, money.budgets_of
CREATE OR REPLACE FUNCTION money.run_batch(
  wait_for_locks boolean,
  callers money.admission_pair[],
  to_admit money.admission[],
  to_close money.closing[],
  answers bytea[],
  OUT admissions text, -- or null
  OUT closings text, -- or null
  OUT products text, -- or null
  OUT at_ms bigint
) LANGUAGE plpgsql
  SET lock_timeout = '250ms' -- one locked wallet must not stop the batcher for all others
  -- One plan forever (B8): a plan made while the tables are small must also work when they are large.
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  hashes bytea[];
  executions text[];
  models text[];
  wanted text[];
  locked text[];
  closes_budgeted boolean;
  budget_ids text[];
  moment timestamptz(3);
  oldest_execution text; -- B10
  newest_execution text;
  answer_day date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
  -- Save responses first: they need no lock, and a long write would extend the time under lock for all. If another
  -- session keeps their table locked, money does not wait: the calls are settled and their responses not saved (rules
  -- §5.4).
  IF cardinality(answers) > 0 THEN
    BEGIN
      INSERT INTO money.answers (day, reservation, content_type, body)
      SELECT answer_day, c.id, c.content_type, answers[row_number() OVER (ORDER BY c.ordinality)]
        FROM unnest(to_close) WITH ORDINALITY AS c
       WHERE c.content_type IS NOT NULL ORDER BY c.id -- a fixed order, so that batches never deadlock
      ON CONFLICT DO NOTHING;
    EXCEPTION WHEN lock_not_available THEN
      answer_day := NULL;
    END;
  END IF;

  -- The wallets to lock. The project of a key, a reservation or an execution never changes, so it may be read before
  -- the locks.
  SELECT array_agg(decode(c.key_hash, 'hex')), array_agg(c.execution) FILTER (WHERE c.execution IS NOT NULL),
         min(c.execution), max(c.execution), array_agg(c.model)
    INTO hashes, executions, oldest_execution, newest_execution, models
    FROM unnest(callers) c;
  SELECT array_agg(DISTINCT p) FILTER (WHERE p IS NOT NULL), bool_or(is_budgeted) INTO wanted, closes_budgeted FROM (
    SELECT k.project AS p, false AS is_budgeted FROM control.keys k WHERE k.hash = ANY (hashes)
    UNION ALL
    SELECT r.project, r.budgets IS NOT NULL FROM money.reservations r WHERE r.id = ANY (ARRAY(SELECT i.id FROM unnest(to_close) i))) t;
  IF executions IS NOT NULL THEN
    SELECT array_agg(DISTINCT p) INTO wanted FROM (
      SELECT unnest(wanted) AS p
      UNION ALL
      SELECT e.project FROM money.executions e
       WHERE e.id = ANY (executions) AND e.id BETWEEN oldest_execution AND newest_execution) t;
  END IF;

  -- B1
  FOR round IN 1 .. 2 LOOP
    IF wait_for_locks THEN
      SELECT array_agg(w.project) INTO locked FROM (
        SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE) w;
    ELSE
      SELECT array_agg(w.project) INTO locked FROM (
        SELECT project FROM money.wallets WHERE project = ANY (wanted) ORDER BY project FOR UPDATE SKIP LOCKED) w;
    END IF;
    EXIT WHEN round = 2 OR wanted IS NULL OR cardinality(locked) = cardinality(wanted);
    INSERT INTO money.wallets (project) -- a project's first call
    SELECT p FROM unnest(wanted) p
     WHERE NOT p = ANY (ARRAY(SELECT w.project FROM money.wallets w WHERE w.project = ANY (wanted)))
    ON CONFLICT DO NOTHING;
    EXIT WHEN NOT FOUND;
  END LOOP;
  locked := coalesce(locked, '{}');

  -- B12
  IF closes_budgeted OR EXISTS (
    SELECT FROM money.budgets b
     WHERE b.tenant = ANY (ARRAY(SELECT p.tenant FROM control.projects p WHERE p.id = ANY (wanted)))
       AND b.target IS NOT NULL)
  THEN
    budget_ids := money.budgets_of(callers);
    SELECT budget_ids || array_agg(b) INTO budget_ids FROM money.reservations r, unnest(r.budgets) b
     WHERE r.id = ANY (ARRAY(SELECT i.id FROM unnest(to_close) i));
    IF wait_for_locks THEN
      locked := locked || ARRAY(SELECT b.id FROM money.budgets b WHERE b.id = ANY (budget_ids) ORDER BY b.id FOR UPDATE);
    ELSE
      locked := locked || ARRAY(
        SELECT b.id FROM money.budgets b WHERE b.id = ANY (budget_ids) ORDER BY b.id FOR UPDATE SKIP LOCKED);
    END IF;
  END IF;

  -- B2
  moment := clock_timestamp();
  at_ms := floor(extract(epoch FROM moment) * 1000);

  -- B3
  IF cardinality(to_close) > 0 THEN
    closings := money.close_batch(
      of_executions => false,
      locked => locked,
      moment => moment,
      answer_day => answer_day,
      items => to_close);
    IF answer_day IS NULL THEN
      closings := closings::jsonb || jsonb_build_object('answersLost', cardinality(answers));
    END IF;
  END IF;
  IF cardinality(to_admit) > 0 THEN
    admissions := money.admit(locked => locked, moment => moment, callers => callers, items => to_admit);
    SELECT json_object_agg(p.id, json_build_object(
             'providers', p.providers,
             'supported', p.supported_parameters,
             'maxOutputBytes', CASE WHEN p.kind <> 'chat' THEN p.max_output_bytes END))
      INTO products FROM control.products p WHERE p.id = ANY (models);
  END IF;

  -- B11
  IF closings IS NULL AND executions IS NULL AND NOT EXISTS (SELECT FROM unnest(to_admit) i WHERE i.key IS NOT NULL) THEN
    SET LOCAL synchronous_commit = off;
  END IF;
END $$;
