import { useState } from 'react'
import type { AssetValue, Values } from '@gateway/api/execution'
import { useScope } from '../../api/session.ts'
import { count } from '../../components/usd.ts'

/** Maximum length of an unexpanded value, in characters. */
const SHORT = 240

/**
 * Value from an execution: an image, an audio player or text. Long text is truncated until expanded. With `isGlance`,
 * there are no focusable elements.
 */
export function ValueView({ value, isGlance = false }: { value: unknown; isGlance?: boolean }) {
  const [isWhole, setWhole] = useState(false)
  if (isAsset(value))
    return <AssetView asset={value.asset} mimeType={value.mimeType} bytes={value.bytes} isGlance={isGlance} />
  if (Array.isArray(value) && value.length > 0 && value.every(isAsset))
    return value.map((asset, n) => <ValueView key={n} value={asset} isGlance={isGlance} />)
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const isLong = text.length > SHORT
  return (
    <>
      <pre className="run-output">{isLong && !isWhole ? `${text.slice(0, SHORT)}…` : text}</pre>
      {isLong && !isGlance && (
        <button type="button" className="button small quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : 'Show all'}
        </button>
      )}
    </>
  )
}

function isAsset(value: unknown): value is AssetValue {
  return typeof value === 'object' && value !== null && 'asset' in value && 'mimeType' in value && 'bytes' in value
}

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

/** Values by port or contract field. */
export function PortValues({ values }: { values: Values }) {
  return (
    <dl className="port-values">
      {Object.entries(values).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <ValueView value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
