-- The money core: one call decides and writes a whole batch in one round trip. `services/ledger/oracle/` says the
-- same as a pure function; a test holds the two against each other.
--
--   B1  The first statement that takes a lock takes nothing but locks: the wallets, in id order. Whoever writes a
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
--   B9  A node of an execution calls under a lease, which is read after the wallet's lock. Whoever ends the lease of a
--       paid node has that lock too, and closes the reservation in the same transaction; so no reservation outlives its
--       lease. That is why nobody else closes it: what closes direct calls leaves reservations of executions alone, and
--       the other way round.
--   B10  Tables that are divided by time are reached between two ids that stand in variables, besides whatever else leads
--       to a row: then Postgres leaves out all other partitions before it begins with a statement.
--
-- `wait_for_locks` waits for wallets that others have locked; without it their items answer 'deferred'.
-- Item lists are parallel arrays, p_ and e_ for pairs of a caller and a model (see admit), a_ for admissions and c_
-- for closings (see close_batch); no id stands in one batch twice.
-- Answers JSON: admissions and closings as those two functions answer them, and of each product its providers,
-- supported parameters and, where it makes images or sounds, how large they may be.
CREATE OR REPLACE FUNCTION money.run_batch(
  wait_for_locks boolean,
  p_hash text[],
  p_model text[],
  e_execution text[],
  e_model text[],
  a_id text[],
  a_pair integer[],
  a_instance text[],
  a_selector text[],
  a_parameters text[],
  a_bytes integer[],
  a_messages integer[],
  a_tools integer[],
  a_images integer[],
  a_counted integer[],
  a_max_tokens integer[],
  a_key text[],
  a_fingerprint text[],
  a_node text[],
  a_lease text[],
  c_id text[],
  c_kind text[],
  c_usage jsonb,
  c_reason text[],
  c_content_type text[],
  c_body bytea[],
  OUT admissions text,
  OUT closings text,
  OUT products text,
  OUT at_ms bigint
) LANGUAGE plpgsql
  SET lock_timeout = '250ms' -- a wallet that somebody keeps locked must not stop the batcher for the others
  -- One plan for ever (B8): what is planned while the tables are small must serve when they are large.
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  wanted text[];
  locked text[];
  moment timestamptz(3);
  oldest_execution text := e_execution[1]; -- B10
  newest_execution text := e_execution[1];
  answered boolean[];
  answer_day date := (now() AT TIME ZONE 'UTC')::date;
BEGIN
  -- Answers first: they need no lock, and a long write would be time under lock for everybody. Where somebody keeps
  -- their table locked, money does not wait: the calls are settled, and their answers are not kept (rules §5.4).
  IF cardinality(array_remove(c_content_type, NULL)) > 0 THEN
    SELECT array_agg(t IS NOT NULL ORDER BY n) INTO answered
      FROM unnest(c_content_type) WITH ORDINALITY u (t, n);
    BEGIN
      INSERT INTO money.answers (day, reservation, content_type, body)
      SELECT answer_day, id, content_type, body FROM unnest(c_id, c_content_type, c_body) t (id, content_type, body)
       WHERE content_type IS NOT NULL ORDER BY id -- in one order everywhere, so that no two batches wait for each other
      ON CONFLICT DO NOTHING;
    EXCEPTION WHEN lock_not_available THEN
      answer_day := NULL;
    END;
  END IF;

  -- Which wallets: the project of a key, a reservation or an execution never changes, so this may be read before the
  -- locks.
  SELECT array_agg(DISTINCT p) FILTER (WHERE p IS NOT NULL) INTO wanted FROM (
    SELECT k.project AS p FROM control.keys k WHERE k.hash = ANY (ARRAY(SELECT decode(h, 'hex') FROM unnest(p_hash) h))
    UNION ALL
    SELECT r.project FROM money.reservations r WHERE r.id = ANY (c_id)) t;
  IF cardinality(e_execution) > 0 THEN
    IF cardinality(e_execution) > 1 THEN
      SELECT min(e), max(e) INTO oldest_execution, newest_execution FROM unnest(e_execution) e;
    END IF;
    SELECT array_agg(DISTINCT p) INTO wanted FROM (
      SELECT unnest(wanted) AS p
      UNION ALL
      SELECT e.project FROM money.executions e
       WHERE e.id = ANY (e_execution) AND e.id BETWEEN oldest_execution AND newest_execution) t;
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
  IF cardinality(c_id) > 0 THEN
    closings := money.close_batch(
      of_executions => false,
      locked => locked,
      moment => moment,
      answer_day => answer_day,
      c_id => c_id,
      c_kind => c_kind,
      c_usage => c_usage,
      c_answered => answered,
      c_reason => c_reason);
    IF answer_day IS NULL THEN
      closings := closings::jsonb
        || jsonb_build_object('answersLost', cardinality(array_remove(c_content_type, NULL)));
    END IF;
  END IF;
  IF cardinality(a_id) > 0 THEN
    admissions := money.admit(
      locked => locked,
      moment => moment,
      p_hash => p_hash,
      p_model => p_model,
      e_execution => e_execution,
      e_model => e_model,
      a_id => a_id,
      a_pair => a_pair,
      a_instance => a_instance,
      a_selector => a_selector,
      a_parameters => a_parameters,
      a_bytes => a_bytes,
      a_messages => a_messages,
      a_tools => a_tools,
      a_images => a_images,
      a_counted => a_counted,
      a_max_tokens => a_max_tokens,
      a_key => a_key,
      a_fingerprint => a_fingerprint,
      a_node => a_node,
      a_lease => a_lease);
    SELECT json_object_agg(p.id, json_build_object(
             'providers', p.providers,
             'supported', p.supported_parameters,
             'maxOutputBytes', CASE WHEN p.kind <> 'chat' THEN p.max_output_bytes END))
      INTO products FROM control.products p WHERE p.id = ANY (p_model || e_model);
  END IF;
END $$;
