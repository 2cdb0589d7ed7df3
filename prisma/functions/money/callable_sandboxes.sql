-- The sandbox products of a project that external callers can start now, each with its active revision (flows §3.4): not
-- suspended, and the project can call all that they call. What has a `chat_input` can be called as a model (rules §3.9,
-- §4.1).
-- needs: money.unassigned_v1
CREATE OR REPLACE VIEW money.callable_sandboxes AS
SELECT s.project,
       s.id,
       s.name,
       s.description,
       s.activated_at,
       r.number AS revision,
       r.manifest,
       r.chat_input,
       r.chat_output
  FROM control.sandboxes s
  JOIN control.revisions r ON r.sandbox = s.id AND r.number = s.active_revision
 WHERE NOT s.suspended
   AND money.unassigned_v1(s.project, r.manifest) IS NULL;
