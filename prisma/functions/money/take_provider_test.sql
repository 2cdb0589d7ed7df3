-- Records how test calls of providers ended that a process has taken, and hands it another one, at most one at a time
-- (rules §7.12). `configured` are the names of its providers, `results` those of its last report
-- (packages/ledger-protocol/src/provider-report.ts).
--   T1  A test is taken by one process, once: a repeated call would be paid again.
--   T2  A test that no process has taken within a minute has expired.
CREATE OR REPLACE FUNCTION money.take_provider_test(
  of_sender text,
  of_service text,
  configured text[],
  results jsonb,
  OUT test text -- JSON, or null
) LANGUAGE plpgsql
AS $$
BEGIN
  UPDATE control.provider_tests t
     SET latency_ms = r."latencyMs", failure = r.failure ->> 'kind', status = (r.failure ->> 'status')::integer,
         code = r.failure ->> 'code'
    FROM jsonb_to_recordset(results) AS r (id text, "latencyMs" integer, failure jsonb)
   WHERE t.id = r.id AND t.sender = of_sender AND t.latency_ms IS NULL;
  WITH next AS (
    SELECT t.id FROM control.provider_tests t
     WHERE t.sender IS NULL
       AND t.provider = ANY (configured)
       AND t.requested_at > clock_timestamp() - interval '1 minute' -- T2
     ORDER BY t.requested_at LIMIT 1 FOR UPDATE SKIP LOCKED -- T1
  )
  UPDATE control.provider_tests t SET sender = of_sender, service = of_service FROM next WHERE t.id = next.id
  RETURNING json_build_object('id', t.id, 'provider', t.provider, 'model', t.model, 'kind', t.kind)::text INTO test;
END $$;
