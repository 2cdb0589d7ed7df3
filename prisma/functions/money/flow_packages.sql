-- All packages of all revisions: those built by activations, and the one saved with the revision if its graph had no
-- problems (its `built_at` is null). All packages of a revision have the same contract and the same nodes.
CREATE OR REPLACE VIEW money.flow_packages AS
SELECT p.sandbox,
       p.revision,
       p.digest,
       p.package,
       p.manifest,
       p.paid_nodes,
       p.chat_input,
       p.chat_output,
       p.built_at
  FROM control.packages p
UNION ALL
SELECT r.sandbox,
       r.number,
       r.digest,
       r.package,
       r.manifest,
       r.paid_nodes,
       r.chat_input,
       r.chat_output,
       NULL
  FROM control.revisions r
 WHERE r.digest IS NOT NULL;
