-- On whose behalf the nodes of an execution call, and why they no longer may (null: they may). For an execution started
-- by a key the lineage counts: rotation and expiry of the key do not stop it, but a revocation, a pause or its issuer's
-- loss of permissions does (money §7.2). What ended another key of the lineage before the start does not: a key in its
-- grace period may still start executions. An execution of a user in the console has no key, lineage or limit, and
-- continues while that user may invoke; a grant requires a membership (rules §7.3). One started by a project token
-- continues while the token exists, has not expired and may invoke.
-- needs: money.callers
CREATE OR REPLACE VIEW money.execution_callers AS
SELECT e.id AS execution,
       e.project,
       e.error IS NULL AND e.completed_at IS NULL AS goes_on,
       coalesce(e.key, '') AS key,
       coalesce(e.lineage, '') AS lineage,
       k.policy,
       k.limit_micro,
       k.limit_reset,
       CASE
         WHEN e.key IS NULL THEN
           CASE WHEN (SELECT g.user_id FROM control.project_grants g
                        JOIN control.projects p ON p.id = g.project
                        JOIN control.memberships m ON m.tenant = p.tenant AND m.user_id = g.user_id
                                                      AND m.suspended_at IS NULL
                        JOIN control.users u ON u.id = g.user_id AND u.disabled_at IS NULL
                       WHERE g.project = e.project AND g.user_id = e.user_id
                         AND g.role IN ('Project Owner', 'Project Consumer')) IS NULL
                AND (SELECT t.id FROM control.access_tokens t
                      WHERE t.id = e.user_id AND t.project = e.project AND t.expires_at > clock_timestamp()
                        AND 'sandboxes.use' = ANY (t.permissions)) IS NULL THEN 'not_permitted' END
         WHEN k.id IS NULL THEN 'key_revoked'
         WHEN (SELECT bool_or(h.revoked_at IS NOT NULL
                              AND (h.id = e.key OR h.rotated_to IS NULL AND h.revoked_at >= e.created_at))
                 FROM control.keys h WHERE h.lineage = e.lineage) THEN 'key_revoked'
         WHEN (SELECT bool_or(h.paused_at IS NOT NULL AND (h.id = e.key OR h.paused_at >= e.created_at))
                 FROM control.keys h WHERE h.lineage = e.lineage) THEN 'key_paused'
         WHEN NOT k.issuer_authorized THEN 'key_issuer_denied'
       END AS refusal,
       e.max_micro,
       r.tenant,
       r.team,
       CASE WHEN e.key IS NULL THEN e.user_id ELSE k.created_by END AS user_id,
       e.tag
  FROM money.executions e
  LEFT JOIN LATERAL (SELECT * FROM control.projects r WHERE r.id = e.project LIMIT 1) r ON true
  LEFT JOIN LATERAL (SELECT * FROM money.callers c WHERE c.id = e.key LIMIT 1) k ON true;
