-- Records a gateway's report of its refusals: c_ are counts by key and code, l_ the latest refusals, one per item.
--   F1  A repeated report changes nothing: report numbers rise with each report of a sender.
--   F2  Refusals of unknown or unbound keys are skipped, because they have no project.
--   F3  The latest 100 of each project are kept.
-- Returns whether the report was new.
CREATE OR REPLACE FUNCTION money.record_refusals(
  of_sender text,
  number integer,
  c_hash text[],
  c_code text[],
  c_count integer[],
  l_hash text[],
  l_code text[],
  l_model text[],
  l_request text[],
  l_ago_ms integer[],
  OUT fresh boolean
) LANGUAGE plpgsql
AS $$
DECLARE
  moment timestamptz(3) := clock_timestamp();
  touched text[];
BEGIN
  INSERT INTO money.refusal_senders AS s (sender, report, at) VALUES (of_sender, number, moment) -- F1
  ON CONFLICT (sender) DO UPDATE SET report = excluded.report, at = excluded.at WHERE s.report < excluded.report;
  fresh := FOUND;
  IF NOT fresh THEN
    RETURN;
  END IF;

  INSERT INTO money.refusal_hours AS h (project, hour, key, code, count)
  SELECT k.project, date_trunc('hour', moment, 'UTC'), k.id, c.code, sum(c.count)
    FROM unnest(c_hash, c_code, c_count) AS c (hash, code, count)
    JOIN control.keys k ON k.hash = decode(c.hash, 'hex') AND k.project IS NOT NULL -- F2
   GROUP BY k.project, k.id, c.code
   ORDER BY k.project, k.id, c.code -- a fixed order, so that reports never deadlock
  ON CONFLICT (project, hour, key, code) DO UPDATE SET count = h.count + excluded.count;

  WITH kept AS (
    INSERT INTO money.latest_refusals (project, at, request, key, model, code)
    SELECT k.project, moment - l.ago_ms * interval '1 millisecond', l.request, k.id, l.model, l.code
      FROM unnest(l_hash, l_code, l_model, l_request, l_ago_ms) AS l (hash, code, model, request, ago_ms)
      JOIN control.keys k ON k.hash = decode(l.hash, 'hex') AND k.project IS NOT NULL
    ON CONFLICT DO NOTHING
    RETURNING project
  )
  SELECT array_agg(DISTINCT project ORDER BY project) INTO touched FROM kept;
  DELETE FROM money.latest_refusals r
   USING unnest(touched) AS t (project)
   CROSS JOIN LATERAL ( -- F3: the hundredth from the end
     SELECT n.at, n.request FROM money.latest_refusals n
      WHERE n.project = t.project ORDER BY n.at DESC, n.request DESC OFFSET 99 LIMIT 1) o
   WHERE r.project = t.project AND (r.at, r.request) < (o.at, o.request);
END $$;
