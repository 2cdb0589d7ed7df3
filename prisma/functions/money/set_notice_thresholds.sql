-- Sets the thresholds of a project's notices (money §10): `below` remaining micro-USD, `percents` of spending windows,
-- `days_left` of runway; empty and null: none. Replaces the previous thresholds.
CREATE OR REPLACE FUNCTION money.set_notice_thresholds(
  of_project text,
  below text[],
  percents integer[],
  days_left integer -- or null
) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
  INSERT INTO money.wallets (project) VALUES (of_project) ON CONFLICT DO NOTHING;
  UPDATE money.wallets SET
    notice_below = (SELECT array_agg(DISTINCT b::bigint ORDER BY b::bigint DESC) FROM unnest(below) b),
    notice_percents = (SELECT array_agg(DISTINCT p ORDER BY p) FROM unnest(percents) p)
   WHERE project = of_project;
  DELETE FROM money.days_left_thresholds WHERE project = of_project AND days IS DISTINCT FROM days_left;
  INSERT INTO money.days_left_thresholds (project, days)
  SELECT of_project, days_left WHERE days_left IS NOT NULL ON CONFLICT DO NOTHING;
END $$;
