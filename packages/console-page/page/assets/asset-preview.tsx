import { useState } from 'react'
import type { StoredAssetRecord } from '@gateway/api/console/assets'

/** Preview of an image, loaded once it scrolls into view, or of an audio file, loaded once it is played. */
export function AssetPreview({ of: { id, mimeType }, address }: { of: StoredAssetRecord; address: string }) {
  const [isBroken, setBroken] = useState(false)
  if (mimeType.startsWith('audio/')) return <audio controls preload="none" src={address} aria-label={`Audio ${id}`} />
  if (isBroken) return <span className="soft small">Preview not available.</span>
  return (
    <a href={address} target="_blank" rel="noreferrer">
      <img loading="lazy" src={address} alt={`Image ${id}`} onError={() => setBroken(true)} />
    </a>
  )
}
