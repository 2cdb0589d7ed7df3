-- The project of a key, and whether its creator may still issue it (rules §6.5). Used by admission and model list.
CREATE OR REPLACE VIEW money.callers AS
SELECT k.id,
       k.hash,
       k.project,
       k.lineage,
       k.policy,
       k.limit_micro,
       k.limit_reset,
       k.expires_at,
       k.revoked_at,
       k.paused_at,
       k.rotated_to,
       k.grace_until,
       p.name AS project_name,
       (SELECT m.user_id FROM control.memberships m
         WHERE m.tenant = p.tenant AND m.user_id = k.created_by AND m.suspended_at IS NULL) IS NOT NULL
       AND (SELECT u.disabled_at FROM control.users u WHERE u.id = k.created_by) IS NULL
       AND (SELECT t.user_id FROM control.team_members t
             WHERE t.team = p.team AND t.user_id = k.created_by) IS NOT NULL
       AND (SELECT g.user_id FROM control.project_grants g
             WHERE g.project = p.id AND g.user_id = k.created_by
               AND g.role IN ('Project Owner', 'Project Consumer')) IS NOT NULL AS issuer_authorized,
       k.tenant,
       p.team,
       k.created_by,
       k.tag
  FROM control.keys k
  LEFT JOIN LATERAL (SELECT * FROM control.projects r WHERE r.id = k.project LIMIT 1) p ON true;
