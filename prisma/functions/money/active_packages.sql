-- The package that serves external calls of each sandbox product: the package of its active revision that was activated
-- last (flows §3.3). Without an active digest it is the newest.
-- needs: money.flow_packages
CREATE OR REPLACE VIEW money.active_packages AS
SELECT s.id AS sandbox,
       p.revision,
       p.digest,
       p.manifest,
       p.paid_nodes,
       p.chat_input,
       p.chat_output
  FROM control.sandboxes s
  CROSS JOIN LATERAL (
    SELECT * FROM money.flow_packages f
     WHERE f.sandbox = s.id AND f.revision = s.active_revision
     ORDER BY f.digest = s.active_digest DESC NULLS LAST, f.built_at DESC NULLS LAST
     LIMIT 1) p;
