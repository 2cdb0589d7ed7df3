import type { AssetValue } from '@gateway/api/execution'
import { useScope } from '../../api/use-project.ts'
import { count } from '../../pure/usd.ts'

/** Image or audio file of the project, with a download link. */
export function AssetView({ asset, mimeType, bytes, isGlance = false }: AssetValue & { isGlance?: boolean }) {
  const { tenant } = useScope()
  const address = `/api/v2/tenants/${encodeURIComponent(tenant)}/assets/${encodeURIComponent(asset)}`
  return (
    <figure className="asset-view">
      {mimeType.startsWith('audio/') ? (
        !isGlance && <audio controls preload="metadata" src={address} aria-label={`Audio ${asset}`} />
      ) : (
        <img src={address} alt={`Image ${asset}`} />
      )}
      <figcaption className="soft small">
        {mimeType}, {count(bytes)} bytes{' '}
        {!isGlance && (
          <a href={address} download>
            Download
          </a>
        )}
      </figcaption>
    </figure>
  )
}
