-- The sandbox products of a project that external callers can start now, each with its active revision (flows §3.4):
-- not suspended, and the project can call all their products. One with a `chat_input` can be called as a model (rules
-- §3.9, §4.1).
-- needs: money.active_packages
-- needs: money.unassigned_product
CREATE OR REPLACE VIEW money.callable_sandboxes AS
SELECT s.project,
       s.id,
       s.name,
       s.description,
       s.activated_at,
       p.revision,
       p.manifest,
       p.chat_input,
       p.chat_output
  FROM control.sandboxes s
  JOIN money.active_packages p ON p.sandbox = s.id
 WHERE NOT s.suspended
   AND money.unassigned_product(s.project, p.manifest) IS NULL;
