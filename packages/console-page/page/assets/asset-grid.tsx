import { useState } from 'react'
import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { AssetCard } from './asset-card.tsx'
import { DeleteAssetDialog } from './delete-asset-dialog.tsx'

/** Assets, newest first. */
export function AssetGrid({ assets }: { assets: StoredAssetRecord[] }) {
  const [deleting, setDeleting] = useState<StoredAssetRecord | null>(null)
  return (
    <>
      <ul className="asset-grid" aria-label="Assets, newest first">
        {assets.map((asset) => (
          <AssetCard key={asset.id} of={asset} onDelete={() => setDeleting(asset)} />
        ))}
      </ul>
      {deleting && <DeleteAssetDialog of={deleting} onClose={() => setDeleting(null)} />}
    </>
  )
}
