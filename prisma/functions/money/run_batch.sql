-- The money core: one call decides and writes a whole batch in one round trip. `services/ledger/oracle/` says the
-- same as a pure function; a test holds the two against each other.
--
--   B1  The first statement that takes a lock takes nothing but locks: the wallets, in id order. Anyone who writes a
--       project's money has its wallet locked, so the wallet's lock also covers its meters, reservations and
--       idempotency keys.
--   B2  All facts are read after the locks, by later statements (READ COMMITTED: each sees what is committed by then),
--       and against one moment of the database's clock.
--   B3  Closings come before admissions: they only free money.
--   B4  Admissions are decided in order of arrival, and a refused one consumes nothing. Where a wallet and its meters
--       have enough for all that arrived, order cannot matter and the decision is one statement; item by item only
--       where not.
--   B5  A bound, a price and a window are fixed at admission; a closing reads them from its reservation.
--   B6  Every movement is a journal entry, and each batch seals its entries per wallet.
--   B7  Nothing here raises for a business reason. What raises (a CHECK, a bug) undoes the whole batch; the caller then
--       takes it apart.
--   B8  No plan may lean on statistics: they are taken from tables that are empty at one moment and have thousands of
--       rows at the next. So a table is reached by `= ANY` of an array or by a sub-query for one row, which leave the
--       planner nothing but one probe of an index an item; what was fetched so is joined by hash.
--   B9  A node of an execution calls under a lease, which is read after the wallet's lock. Anyone who ends the lease of a
--       paid node has that lock too, and closes the reservation in the same transaction; so no reservation outlives its
--       lease. That is why no one else closes it: what closes direct calls leaves reservations of executions alone, and
--       the other way round.
--   B10  Tables that are divided by time are reached between two ids that are in variables, in addition to anything else leads
--       to a row: then Postgres leaves out all other partitions before it begins with a statement.
--
-- `wait_for_locks` waits for wallets that others have locked; without it their items answer 'deferred'.
-- `callers` are the different pairs of a caller and a model, those of executions last. No id is in one batch twice. `answers` are those to keep, in the order of the closings that have a content type.
-- Answers JSON: admissions and closings as those two functions answer them, and of each product its providers,
-- supported parameters and, where it makes images or sounds, how large they may be.
-- needs: money.admission, money.admission_pair, money.closing
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
  SET lock_timeout = '250ms' -- a wallet that someone keeps locked must not stop the batcher for the others
  -- One plan forever (B8): what is planned while the tables are small must serve when they are large.
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
  moment timestamptz(3);
  oldest_execution text; -- B10
  newest_execution text;
  answer_day date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
  -- Answers first: they need no lock, and a long write would be time under lock for everybody. Where someone keeps
  -- their table locked, money does not wait: the calls are settled, and their answers are not kept (rules §5.4).
  IF cardinality(answers) > 0 THEN
    BEGIN
      INSERT INTO money.answers (day, reservation, content_type, body)
      SELECT answer_day, c.id, c.content_type, answers[row_number() OVER (ORDER BY c.ordinality)]
        FROM unnest(to_close) WITH ORDINALITY AS c
       WHERE c.content_type IS NOT NULL ORDER BY c.id -- in one order everywhere, so that no two batches wait for each other
      ON CONFLICT DO NOTHING;
    EXCEPTION WHEN lock_not_available THEN
      answer_day := NULL;
    END;
  END IF;

  -- Which wallets: the project of a key, a reservation or an execution never changes, so this may be read before the
  -- locks.
  SELECT array_agg(decode(c.key_hash, 'hex')), array_agg(c.execution) FILTER (WHERE c.execution IS NOT NULL),
         min(c.execution), max(c.execution), array_agg(c.model)
    INTO hashes, executions, oldest_execution, newest_execution, models
    FROM unnest(callers) c;
  SELECT array_agg(DISTINCT p) FILTER (WHERE p IS NOT NULL) INTO wanted FROM (
    SELECT k.project AS p FROM control.keys k WHERE k.hash = ANY (hashes)
    UNION ALL
    SELECT r.project FROM money.reservations r WHERE r.id = ANY (ARRAY(SELECT i.id FROM unnest(to_close) i))) t;
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
END $$;
