import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/use-change.ts'
import { useScope } from '../api/use-project.ts'
import { Moment } from '../components/moment.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { kindOf, sizeOf } from './asset-labels.ts'
import { ASSETS } from './use-assets.ts'

/** Asks before what can't be undone, and says what stops working. */
export function DeleteAssetDialog({ of: asset, onClose }: { of: StoredAssetRecord; onClose: () => void }) {
  const { tenant } = useScope()
  const change = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/assets/{asset}', { params: { tenant, asset: asset.id } }),
    `Asset ${asset.id} deleted.`,
    [ASSETS],
  )
  return (
    <FormDialog
      title={`Delete this ${kindOf(asset)}?`}
      submit="Delete"
      cancel="Cancel"
      isDanger
      change={change}
      onClose={onClose}
    >
      <p>
        <code>{asset.id}</code>, {sizeOf(asset.bytes)}, of <Moment iso={asset.createdAt} />.
      </p>
      <p>
        From now on no one can see or download it, and a call that names it is refused as <code>asset_not_found</code>.
        Executions in progress keep it until they end; records keep naming it. It cannot be restored.
      </p>
    </FormDialog>
  )
}
