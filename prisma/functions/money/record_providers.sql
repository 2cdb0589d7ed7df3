-- Records what a process saw of its providers since its last report (rules §7.12). `providers`, `counts` and `failures`
-- are the lists of a report (packages/ledger-protocol/src/provider-report.ts).
--   P1  A repeated report changes nothing: report numbers rise with each report of a sender.
--   P2  Counts are added to the slot of five minutes in which the report arrives.
--   P3  The latest 50 failures of each provider are kept.
--   P4  A process states all its providers with each report; an empty list is the last one.
-- Returns whether the report was new.
CREATE OR REPLACE FUNCTION money.record_providers(
  of_sender text,
  of_service text,
  number integer,
  started_ago_ms bigint,
  providers jsonb,
  counts jsonb,
  failures jsonb,
  OUT fresh boolean
) LANGUAGE plpgsql
AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
  touched text[];
BEGIN
  INSERT INTO money.provider_senders AS s (sender, service, report, started_at, at)
  VALUES (of_sender, of_service, number, moment - started_ago_ms * interval '1 millisecond', moment) -- P1
  ON CONFLICT (sender) DO UPDATE SET report = excluded.report, at = excluded.at WHERE s.report < excluded.report;
  fresh := FOUND;
  IF NOT fresh THEN
    RETURN;
  END IF;

  DELETE FROM money.provider_states WHERE sender = of_sender; -- P4
  INSERT INTO money.provider_states (sender, provider, kind, credential, credential_at, circuit, circuit_at)
  SELECT of_sender, p.provider, p.kind, p.credential, moment - p."credentialAgoMs" * interval '1 millisecond',
         p.circuit, moment - p."circuitAgoMs" * interval '1 millisecond'
    FROM jsonb_to_recordset(providers) AS p (
      provider text, kind text, credential text, "credentialAgoMs" bigint, circuit text, "circuitAgoMs" bigint);

  INSERT INTO money.provider_slots AS t
    (slot, provider, model, product, answered, cut, failed, rejected, fallbacks, latency)
  SELECT date_bin('5 minutes', moment, 'epoch'), c.provider, c.model, c.product, c.answered, c.cut, c.failed, c.rejected,
         c.fallbacks, c.latency -- P2
    FROM jsonb_to_recordset(counts) AS c (
      provider text, model text, product text, answered bigint, cut bigint, failed bigint, rejected bigint,
      fallbacks bigint, latency bigint[])
   ORDER BY c.provider, c.model, c.product -- a fixed order, so that reports never deadlock
  ON CONFLICT (slot, provider, model, product) DO UPDATE SET
    answered = t.answered + excluded.answered,
    cut = t.cut + excluded.cut,
    failed = t.failed + excluded.failed,
    rejected = t.rejected + excluded.rejected,
    fallbacks = t.fallbacks + excluded.fallbacks,
    latency = ARRAY(
      SELECT a + b FROM unnest(t.latency, excluded.latency) WITH ORDINALITY AS l (a, b, n) ORDER BY n);

  WITH kept AS (
    INSERT INTO money.provider_failures
      (provider, at, id, model, product, project, invocation, kind, status, code)
    SELECT f.provider, moment - f."agoMs" * interval '1 millisecond', concat_ws(' ', of_sender, number, f.n), f.model,
           f.product, f.project, f.invocation, f.kind, f.status, f.code
      FROM ROWS FROM (jsonb_to_recordset(failures) AS (
        provider text, model text, product text, project text, invocation text, kind text, status integer, code text,
        "agoMs" bigint)) WITH ORDINALITY AS f (
        provider, model, product, project, invocation, kind, status, code, "agoMs", n)
    RETURNING provider
  )
  SELECT array_agg(DISTINCT provider ORDER BY provider) INTO touched FROM kept;
  DELETE FROM money.provider_failures r
   USING unnest(touched) AS t (provider)
   CROSS JOIN LATERAL ( -- P3: the fiftieth from the end
     SELECT n.at, n.id FROM money.provider_failures n
      WHERE n.provider = t.provider ORDER BY n.at DESC, n.id DESC OFFSET 49 LIMIT 1) o
   WHERE r.provider = t.provider AND (r.at, r.id) < (o.at, o.id);
END $$;
