import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { ask } from '../api/ask.ts'
import { useChange } from '../api/use-change.ts'
import { useScope } from '../api/use-project.ts'
import { Moment } from '../components/moment.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { kindOf, sizeOf } from './asset-labels.ts'
import { ASSETS } from './use-assets.ts'

/** Confirms deleting an asset, which can't be undone, and says what stops working. */
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
        The asset can no longer be viewed or downloaded, and calls that use it are refused with{' '}
        <code>asset_not_found</code>. Executions in progress keep it until they end, and records keep its ID. This can't
        be undone.
      </p>
    </FormDialog>
  )
}
