-- Reads what an estimate needs in addition to the flow (money §7.6): the current bounds of calls of these products, as
-- execution_pairs reads them for admissions, and the charges of the newest ended executions of the sandbox product, up
-- to 100 of the newest 1,000: those of this package if there are any, else of any package. Each amount is an actual
-- charge. Planned once, like read_record.
CREATE OR REPLACE FUNCTION money.read_estimate(
  of_products text[],
  of_sandbox text,
  of_digest text,
  OUT products text,
  OUT last text
) LANGUAGE plpgsql STABLE
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  ended text[];
  of_same boolean[];
  oldest_ended text; -- B10 of run_batch
  newest_ended text;
  charges text[];
  oldest_charge text;
  newest_charge text;
BEGIN
  SELECT coalesce(json_agg(json_build_object(
           'id', p.id,
           'bounded', p.kind = 'chat' OR p.unit <> 'request',
           'counted', p.tokenizer IS NOT NULL,
           'contextLength', p.context_length,
           'maxOutputTokens', p.max_output_tokens,
           'tokensPerByteMillionths', p.tokens_per_byte_millionths,
           'perMessage', p.per_message,
           'perTool', p.per_tool,
           'fixedWithTools', p.fixed_with_tools,
           'maxTokensPerImage', p.max_tokens_per_image,
           'factorMillionths', p.factor_millionths,
           'promptPico', p.prompt_pico::text,
           'cacheWritePico', p.cache_write_pico::text,
           'completionPico', p.completion_pico::text,
           'requestPico', p.request_pico::text) ORDER BY p.id), '[]')::text
    INTO products FROM control.products p WHERE p.id = ANY (of_products);

  SELECT array_agg(n.id ORDER BY n.ord), array_agg(n.same ORDER BY n.ord) INTO ended, of_same
    FROM (SELECT e.id, coalesce(e.digest = of_digest, false) AS same, e.completed_at, row_number() OVER () AS ord
            FROM (SELECT * FROM money.executions x WHERE x.sandbox = of_sandbox
                   ORDER BY x.created_at DESC LIMIT 1000) e) n
   WHERE n.completed_at IS NOT NULL;
  IF true = ANY (of_same) THEN
    ended := ARRAY(SELECT u.id FROM unnest(ended, of_same) WITH ORDINALITY AS u (id, same, ord)
                    WHERE u.same ORDER BY u.ord LIMIT 100);
  ELSE
    ended := ended[1:100];
  END IF;
  SELECT min(e), max(e) INTO oldest_ended, newest_ended FROM unnest(ended) e;
  SELECT array_agg(n.charge), min(n.charge), max(n.charge) INTO charges, oldest_charge, newest_charge
    FROM money.execution_nodes n
   WHERE n.execution = ANY (ended) AND n.execution BETWEEN oldest_ended AND newest_ended AND n.charge IS NOT NULL;
  WITH charged AS MATERIALIZED (
    SELECT v.execution, sum(v.charged_micro) AS micro FROM money.attempts v
     WHERE v.id = ANY (charges) AND v.id BETWEEN oldest_charge AND newest_charge GROUP BY v.execution
  )
  SELECT json_build_object(
           'samePackage', coalesce(true = ANY (of_same), ended IS NULL),
           'executions', count(*),
           'minMicro', min(c.micro),
           'medianMicro', percentile_disc(0.5) WITHIN GROUP (ORDER BY c.micro),
           'p90Micro', percentile_disc(0.9) WITHIN GROUP (ORDER BY c.micro),
           'maxMicro', max(c.micro))::text
    INTO last
    FROM (SELECT coalesce(s.micro, 0)::bigint AS micro
            FROM unnest(ended) e LEFT JOIN charged s ON s.execution = e) c;
END $$;
