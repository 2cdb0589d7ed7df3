-- Reads the facts that decide whether an execution may start: an object for each question, in order. Keys, windows and
-- wallets are read as admission reads them; nothing is reserved. A repeat needs the products that its execution calls,
-- regardless of which revision is active now (rules §5.2).
-- needs: money.start_question
CREATE OR REPLACE FUNCTION money.read_starts(
  questions money.start_question[],
  max_open integer,
  OUT facts text
) LANGUAGE plpgsql
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
  projects text[];
  open_of bigint[];
  kept_of numeric[];
  quota_of bigint[];
BEGIN
  -- Read once per project, however many of its executions are in the questions.
  SELECT array_agg(p.project),
         array_agg((SELECT count(*) FROM (
           SELECT FROM money.executions o
            WHERE o.project = p.project AND o.completed_at IS NULL LIMIT max_open) o)),
         array_agg((SELECT coalesce(sum(u.bytes), 0) FROM money.execution_usage u WHERE u.project = p.project)),
         array_agg((SELECT (c.quotas ->> 'executionBytes')::bigint FROM control.projects c WHERE c.id = p.project))
    INTO projects, open_of, kept_of, quota_of
    FROM (SELECT q.project FROM unnest(questions) q
          UNION
          SELECT k.project FROM control.keys k
           WHERE k.hash = ANY (ARRAY(
             SELECT decode(q.key_hash, 'hex') FROM unnest(questions) q WHERE q.key_hash IS NOT NULL))) p
   WHERE p.project IS NOT NULL;
  SELECT json_agg(json_build_object(
           'project', i.at_project,
           'refusal', i.refusal,
           'key', i.key_id,
           'lineage', i.lineage,
           'tag', i.tag,
           'rotatedTo', i.rotated_to,
           'expiredAt', i.expires_at,
           'limit', CASE WHEN i.limit_micro IS NOT NULL THEN json_build_object(
              'micro', i.limit_micro,
              'reset', i.limit_reset,
              'windowStart', greatest(t.window_start, i.window_start),
              'spent', CASE WHEN t.window_start >= i.window_start THEN t.spent ELSE 0 END,
              'reserved', CASE WHEN t.window_start >= i.window_start THEN t.reserved ELSE 0 END) END,
           'sandbox', CASE WHEN s.id IS NOT NULL THEN json_build_object(
              'suspended', s.suspended,
              'active', s.active_revision) END,
           'revision', CASE WHEN r.number IS NOT NULL THEN json_build_object(
              'number', r.number,
              'digest', p.digest,
              'paidNodes', coalesce(p.paid_nodes, 0),
              'chatInput', p.chat_input,
              'chatOutput', p.chat_output) END,
           'unlisted', CASE WHEN i.key_id IS NOT NULL THEN
              money.unlisted_resource(
                i.key_id, i.policy, i.sandbox, coalesce(er.manifest, xr.manifest, p.manifest)) END,
           'unassigned', (
              SELECT m FROM unnest(p.manifest) m
               WHERE NOT EXISTS (
                 SELECT FROM control.assignments a
                   JOIN control.products p ON p.id = a.product AND p.state = 'published'
                  WHERE a.project = i.at_project AND a.product = m)
               LIMIT 1),
           'asked', CASE WHEN e.id IS NOT NULL THEN json_build_object(
              'execution', e.id,
              'project', e.project,
              'sandbox', e.sandbox,
              'revision', e.revision,
              'textField', CASE e.surface WHEN 'chat' THEN er.chat_output END) END,
           'earlier', CASE WHEN x.key IS NOT NULL THEN json_build_object(
              'execution', x.invocation,
              'fingerprint', encode(x.fingerprint, 'hex'),
              'revision', xe.revision,
              'textField', CASE xe.surface WHEN 'chat' THEN xr.chat_output END) END,
           'reserved', coalesce(w.reserved, 0),
           'available', coalesce(w.funded - w.settled - w.reserved, 0),
           'kept', coalesce(kept_of[array_position(projects, i.at_project)], 0),
           'ownQuota', quota_of[array_position(projects, i.at_project)],
           'open', coalesce(open_of[array_position(projects, i.at_project)], 0)
         ) ORDER BY i.ordinality)
    INTO facts
    FROM (SELECT a.*,
                 k.id AS key_id,
                 k.lineage,
                 k.tag,
                 k.policy,
                 k.rotated_to,
                 k.expires_at,
                 k.limit_micro,
                 k.limit_reset,
                 coalesce(a.project, k.project) AS at_project,
                 CASE WHEN a.key_hash IS NOT NULL THEN money.key_refusal(k.row, moment) END AS refusal,
                 money.window_start(k.limit_reset, moment) AS window_start
            FROM unnest(questions) WITH ORDINALITY AS a
            LEFT JOIN LATERAL (
              SELECT c AS row, c.* FROM money.callers c WHERE c.hash = decode(a.key_hash, 'hex') LIMIT 1) k ON true
          OFFSET 0) i
    LEFT JOIN LATERAL (
      SELECT * FROM control.sandboxes s WHERE s.id = i.sandbox AND s.project = i.at_project LIMIT 1) s ON true
    LEFT JOIN LATERAL (
      SELECT * FROM control.revisions r
       WHERE r.sandbox = s.id AND r.number = coalesce(i.revision, s.active_revision) LIMIT 1) r ON true
    LEFT JOIN LATERAL ( -- for the active revision, as in active_packages
      SELECT * FROM money.flow_packages p
       WHERE p.sandbox = s.id AND p.revision = r.number
       ORDER BY p.digest = s.active_digest DESC NULLS LAST, p.built_at DESC NULLS LAST LIMIT 1) p ON true
    LEFT JOIN LATERAL (SELECT * FROM money.executions e WHERE e.id = i.id LIMIT 1) e ON true
    LEFT JOIN LATERAL (
      SELECT q.chat_output, q.manifest FROM money.flow_packages q
       WHERE q.sandbox = e.sandbox AND q.revision = e.revision LIMIT 1) er ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.idempotency_keys x
       WHERE x.project = i.at_project AND x.scope = i.scope AND x.key = i.idempotency_key LIMIT 1) x ON true
    LEFT JOIN LATERAL (SELECT * FROM money.executions e WHERE e.id = x.invocation LIMIT 1) xe ON true
    LEFT JOIN LATERAL (
      SELECT q.chat_output, q.manifest FROM money.flow_packages q
       WHERE q.sandbox = xe.sandbox AND q.revision = xe.revision LIMIT 1) xr ON true
    LEFT JOIN LATERAL (SELECT * FROM money.wallets w WHERE w.project = i.at_project LIMIT 1) w ON true
    LEFT JOIN LATERAL (
      SELECT * FROM money.meters t WHERE t.lineage = i.lineage AND i.limit_micro IS NOT NULL LIMIT 1) t ON true;
END $$;
