-- Reads an execution and its nodes in the order of the graph, in one snapshot (STABLE: every statement here sees what
-- its caller sees). While it is running, only the nodes that ended with a result after line `after`; once it has ended,
-- all nodes, unless the caller already has its last line. `after` null: everything.
--
-- Planned once: planning it for each question took ten times as long as the read, because of the partitions.
--
-- Returns `execution`, an object, and `nodes`, a list of objects; null: there is no such execution. The other lists
-- have, at the position of each node, its bytes, the id of its paid call (null: no attempt was ever admitted) and its
-- charge (null: none); the last two lists are null if no node has a call.
CREATE OR REPLACE FUNCTION money.read_record(
  wanted text,
  after integer, -- or null
  OUT execution text, -- or null
  OUT output bytea, -- or null
  OUT error bytea, -- or null
  OUT nodes text, -- or null
  OUT n_output bytea[], -- or null
  OUT n_error bytea[], -- or null
  OUT n_call text[], -- or null
  OUT n_charged text[] -- or null
) LANGUAGE plpgsql STABLE
  SET plan_cache_mode = 'force_generic_plan'
  SET enable_seqscan = off
  SET enable_bitmapscan = off
  SET enable_nestloop = off
  SET enable_mergejoin = off
AS $$
DECLARE
  last_seq integer;
  has_ended boolean;
  calls text[];
  attempts_of integer[];
  charges text[];
  -- The ids that bound the partitions to read (B10 of run_batch).
  oldest_call text;
  newest_call text;
BEGIN
  SELECT json_build_object(
           'id', e.id,
           'project', e.project,
           'sandbox', e.sandbox,
           'revision', e.revision,
           'digest', e.digest,
           'startedBy', CASE WHEN e.user_id IS NULL THEN e.surface ELSE 'user' END,
           'maxMicro', e.max_micro,
           'status', e.status,
           'seq', e.seq,
           'createdMs', floor(extract(epoch FROM e.created_at) * 1000)::bigint,
           'startedMs', floor(extract(epoch FROM e.started_at) * 1000)::bigint,
           'completedMs', floor(extract(epoch FROM e.completed_at) * 1000)::bigint,
           'rerunOf', e.rerun_of),
         e.output,
         e.error,
         e.seq,
         e.completed_at IS NOT NULL
    INTO execution, output, error, last_seq, has_ended
    FROM money.executions e WHERE e.id = wanted;
  IF execution IS NULL THEN
    RETURN;
  END IF;

  SELECT json_agg(json_build_object(
           'node', n.node,
           'kind', n.kind,
           'state', n.state,
           'seq', n.seq,
           'durationMs', n.duration_ms,
           'remoteMs', n.remote_ms,
           'attempt', n.attempt,
           'claimedMs', floor(extract(epoch FROM n.claimed_at) * 1000)::bigint,
           'endedMs', floor(extract(epoch FROM n.completed_at) * 1000)::bigint,
           'takenOver', n.taken_over) ORDER BY n.ordinal),
         array_agg(n.output ORDER BY n.ordinal),
         array_agg(n.error ORDER BY n.ordinal),
         array_agg(n.call ORDER BY n.ordinal),
         array_agg(n.attempt ORDER BY n.ordinal),
         array_agg(n.charge ORDER BY n.ordinal),
         min(n.call),
         max(n.call) || '-9999999' -- after the ids of all its attempts, `<call>-2` and so on (decide-execution.ts)
    INTO nodes, n_output, n_error, calls, attempts_of, charges, oldest_call, newest_call
    FROM money.execution_nodes n
   WHERE n.execution = wanted AND (after IS NULL OR n.seq > after OR (has_ended AND last_seq > after));

  IF oldest_call IS NOT NULL THEN
    SELECT array_agg(CASE WHEN i.charge IS NOT NULL OR a.admitted THEN i.call END ORDER BY i.ord),
           array_agg(v.charged_micro::text ORDER BY i.ord)
      INTO n_call, n_charged
      FROM unnest(calls, attempts_of, charges) WITH ORDINALITY AS i (call, attempt, charge, ord)
      LEFT JOIN LATERAL (
        SELECT true AS admitted
          FROM generate_series(1, i.attempt) t
          JOIN LATERAL (
            SELECT r.id FROM money.reservations r WHERE r.id = i.call || CASE t WHEN 1 THEN '' ELSE '-' || t END
            UNION ALL
            SELECT c.id FROM money.attempts c
             WHERE c.id = i.call || CASE t WHEN 1 THEN '' ELSE '-' || t END
               AND c.id BETWEEN oldest_call AND newest_call
            LIMIT 1) r ON true
         WHERE i.call IS NOT NULL AND i.charge IS NULL
         LIMIT 1) a ON true
      LEFT JOIN LATERAL (
        SELECT c.charged_micro FROM money.attempts c
         WHERE c.id = i.charge AND c.id BETWEEN oldest_call AND newest_call LIMIT 1) v ON true;
  END IF;
END $$;
