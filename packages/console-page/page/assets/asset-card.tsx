import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { useScope } from '../api/use-project.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { Moment } from '../components/moment.tsx'
import { count } from '../pure/usd.ts'
import { AssetMaker } from './asset-maker.tsx'
import { AssetPreview } from './asset-preview.tsx'
import { kindOf, sizeOf } from './asset-labels.ts'

/** An asset and its actions. */
export function AssetCard({ of: asset, onDelete }: { of: StoredAssetRecord; onDelete: () => void }) {
  const { tenant } = useScope()
  const { id, bytes, createdAt } = asset
  const address = `/api/v2/tenants/${encodeURIComponent(tenant)}/assets/${encodeURIComponent(id)}`
  return (
    <li className="card asset">
      <div className="asset-preview">
        <AssetPreview of={asset} address={address} />
      </div>
      <div className="asset-text">
        <div className="head">
          <strong>{kindOf(asset)}</strong>
          <span className="soft" title={`${count(bytes)} bytes`}>
            {sizeOf(bytes)}
          </span>
        </div>
        <p className="soft small">
          <Moment iso={createdAt} />, <AssetMaker of={asset} />
        </p>
        <div className="asset-id">
          <code title={id}>{id}</code>
          <CopyButton text={id} label={`Copy ID ${id}`} isSmall />
        </div>
        <div className="buttons">
          <a className="button small" href={address} download aria-label={`Download ${id}`}>
            Download
          </a>
          <button type="button" className="button small danger" aria-label={`Delete ${id}`} onClick={onDelete}>
            Delete
          </button>
        </div>
      </div>
    </li>
  )
}
