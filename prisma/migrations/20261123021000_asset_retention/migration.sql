-- Assets of people, and how an asset ends: it is marked as deleted, its bytes are removed, and then its row
-- (services/ledger/src/assets/delete-asset.ts). Who uploaded one was not kept before.
ALTER TABLE money.assets
  ADD COLUMN key        text, -- that it was uploaded with
  ADD COLUMN person     text, -- or who uploaded it in the console
  ADD COLUMN deleted_at timestamptz(3);
CREATE INDEX assets_there ON money.assets (project, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX assets_deleted ON money.assets (deleted_at) WHERE deleted_at IS NOT NULL;
GRANT UPDATE (deleted_at), DELETE ON money.assets TO svc_ledger;

-- After how many days the assets of a project are deleted; null: never.
ALTER TABLE control.projects
  ADD COLUMN asset_retention_days integer CHECK (asset_retention_days BETWEEN 1 AND 3650);
