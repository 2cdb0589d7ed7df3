-- Returns what executions may do with models: the pairs of an execution and a model among `callers`, in their order.
-- The caller of an execution is the lineage of its key, or the user who started it in the console
-- (money.execution_callers). It may call products of any kind; a product that generates images or audio at a price per
-- request has no context limit.
-- needs: money.admission_pair, money.make_caller_and_model, money.budget_targets
CREATE OR REPLACE FUNCTION money.execution_pairs(
  locked text[],
  moment timestamptz,
  callers money.admission_pair[]
) RETURNS money.caller_and_model[] LANGUAGE plpgsql
AS $$
DECLARE
  pairs money.caller_and_model[];
  oldest_execution text; -- B10 of run_batch
  newest_execution text;
  limited text[]; -- executions with a ceiling
  charges text[];
  oldest_charge text;
  newest_charge text;
  charged_of jsonb;
  reserved_of jsonb;
  month timestamptz := money.window_start('monthly', moment);
BEGIN
  SELECT min(i.execution), max(i.execution) INTO oldest_execution, newest_execution FROM unnest(callers) i;
  SELECT array_agg(money.make_caller_and_model(
           execution => i.execution,
           goes_on => i.goes_on,
           max_micro => i.max_micro,
           project => i.project,
           key => i.key,
           lineage => i.lineage,
           model => i.model,
           key_code => CASE WHEN i.refusal IS NOT NULL THEN i.refusal
                            WHEN NOT i.project = ANY (locked) OR g.are_locked IS FALSE THEN 'deferred' END,
           model_code => CASE WHEN m.id IS NULL THEN 'product_not_assigned'
                              WHEN i.policy = 'listed' AND kr.key IS NULL THEN 'key_scope' END,
           limit_micro => i.limit_micro,
           limit_reset => i.limit_reset,
           window_start => greatest(t.window_start, i.window_start),
           meter_spent => CASE WHEN t.window_start >= i.window_start THEN t.spent ELSE 0 END,
           meter_reserved => CASE WHEN t.window_start >= i.window_start THEN t.reserved ELSE 0 END,
           wallet_total => w.funded - w.settled,
           wallet_free => w.funded - w.settled - w.reserved,
           journal_seq => w.journal_seq,
           seal => w.seal,
           context_length => CASE WHEN m.unbounded THEN 2147483647 ELSE m.context_length END,
           max_output_tokens => CASE WHEN m.unbounded THEN 2147483647 ELSE m.max_output_tokens END,
           supported_parameters => m.supported_parameters,
           tokenizer => m.tokenizer,
           tokens_per_byte_millionths => m.tokens_per_byte_millionths,
           per_message => m.per_message,
           per_tool => m.per_tool,
           fixed_with_tools => m.fixed_with_tools,
           max_tokens_per_image => m.max_tokens_per_image,
           factor_millionths => m.factor_millionths,
           prompt_pico => m.prompt_pico,
           completion_pico => m.completion_pico,
           request_pico => m.request_pico,
           cached_pico => m.cached_pico,
           reasoning_pico => m.reasoning_pico,
           cache_write_pico => m.cache_write_pico,
           takes_files => 'file' = ANY (m.input_modalities),
           tag => i.tag,
           budgets => g.ids,
           budget_windows => g.windows,
           budgets_left => g.left_of
         ) ORDER BY i.n)
    INTO pairs
    FROM (SELECT r.n, r.model, c.*, money.window_start(c.limit_reset, moment) AS window_start,
                 money.budget_targets(c.tenant, c.user_id, c.team, c.tag) AS targets
            FROM (SELECT a.execution AS execution_id, a.model, a.ordinality AS n
                    FROM unnest(callers) WITH ORDINALITY AS a WHERE a.execution IS NOT NULL) r
            LEFT JOIN LATERAL (
              SELECT * FROM money.execution_callers c
               WHERE c.execution = r.execution_id
                 AND c.execution BETWEEN oldest_execution AND newest_execution LIMIT 1) c ON true) i
    LEFT JOIN LATERAL (SELECT * FROM money.wallets w WHERE w.project = i.project LIMIT 1) w ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.meters t WHERE t.lineage = i.lineage AND i.limit_micro IS NOT NULL LIMIT 1) t ON true
    LEFT JOIN LATERAL (
      SELECT p.*, p.kind <> 'chat' AND p.unit = 'request' AS unbounded
        FROM control.products p
       WHERE p.id = i.model AND p.state = 'published'
         AND (SELECT a.product FROM control.assignments a
               WHERE a.project = i.project AND a.product = p.id) IS NOT NULL
       LIMIT 1) m ON true
    LEFT JOIN LATERAL (
      SELECT * FROM control.key_resources r
       WHERE r.key = i.key AND r.resource = i.model AND i.policy = 'listed' LIMIT 1) kr ON true
    LEFT JOIN LATERAL (
      SELECT array_agg(b.id ORDER BY b.id) AS ids,
             array_agg(greatest(b.window_start, month) ORDER BY b.id) AS windows,
             array_agg(CASE WHEN b.is_hard THEN
               b.limit_micro - CASE WHEN b.window_start >= month THEN b.spent + b.reserved ELSE 0 END
             END ORDER BY b.id) AS left_of,
             bool_and(b.id = ANY (locked)) AS are_locked
        FROM money.budgets b WHERE b.target = ANY (i.targets)) g ON true;

  -- Charges and open reservations of its nodes count towards a ceiling: at most one charge per node, which its row
  -- names, and one reservation (one_reservation_a_node). Both change only under the wallet's lock, which is held here,
  -- and a charge never exceeds its reservation, so admitted calls stay within the ceiling however they end. A released
  -- attempt does not count: later usage of it is written off (B9 of run_batch), and the next attempt reserves under its
  -- own id.
  SELECT array_agg(DISTINCT p.execution) INTO limited FROM unnest(pairs) p WHERE p.max_micro IS NOT NULL;
  IF limited IS NOT NULL THEN
    SELECT jsonb_object_agg(s.execution, s.micro) INTO reserved_of
      FROM (SELECT r.execution, sum(r.micro) AS micro FROM money.reservations r
             WHERE r.execution = ANY (limited) GROUP BY r.execution) s;
    SELECT array_agg(n.charge), min(n.charge), max(n.charge) INTO charges, oldest_charge, newest_charge
      FROM money.execution_nodes n
     WHERE n.execution = ANY (limited) AND n.execution BETWEEN oldest_execution AND newest_execution
       AND n.charge IS NOT NULL;
    SELECT jsonb_object_agg(s.execution, s.micro) INTO charged_of
      FROM (SELECT v.execution, sum(v.charged_micro) AS micro FROM money.attempts v
             WHERE v.id = ANY (charges) AND v.id BETWEEN oldest_charge AND newest_charge GROUP BY v.execution) s;
    FOR n IN 1 .. cardinality(pairs) LOOP
      CONTINUE WHEN pairs[n].max_micro IS NULL;
      pairs[n].ceiling_charged := coalesce((charged_of ->> pairs[n].execution)::bigint, 0);
      pairs[n].ceiling_reserved := coalesce((reserved_of ->> pairs[n].execution)::bigint, 0);
    END LOOP;
  END IF;
  RETURN pairs;
END $$;
