import { buffer } from 'node:stream/consumers'
import { AssetMissing } from '@gateway/assets/asset-failures'
import type { AssetStore } from '@gateway/assets/asset-store'
import type { AssetValue } from '@gateway/contracts/execution'
import { chatLimits } from '@gateway/contracts/limits'
import { refuse } from '@gateway/contracts/refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { askUntil } from './ask-until.ts'

/** Images of the run's project as `data:` URLs, to be put into messages. Rejects with a Refusal for what can't be sent. */
export type LoadImages = (project: string, value: unknown, signal: AbortSignal) => Promise<string[]>

interface Deps {
  ledger: Pick<LedgerClient, 'readAsset'>
  assets: Pick<AssetStore, 'open'>
}

export function imageLoader({ ledger, assets }: Deps): LoadImages {
  return async (project, value, signal) => {
    const urls: string[] = []
    let bytes = 0
    for (const image of imagesOf(value)) {
      const known = await askUntil(signal, () => ledger.readAsset({ caller: { project }, asset: image.asset }))
      // What the value says of itself may come from a caller; what counts is on the books.
      if ('refused' in known) throw refuse('asset_not_found', { asset: image.asset })
      const { mimeType } = known.asset
      if (!mimeType.startsWith('image/')) throw notAnImage(image.asset)
      bytes += known.asset.bytes
      if (bytes > chatLimits.forwardedBytes) throw tooLarge()
      urls.push(`data:${mimeType};base64,${(await read(project, image.asset)).toString('base64')}`)
    }
    return urls
  }

  async function read(project: string, asset: string): Promise<Buffer> {
    try {
      return await buffer(await assets.open(project, asset))
    } catch (error) {
      throw error instanceof AssetMissing ? refuse('asset_not_found', { asset }) : error
    }
  }
}

/** The port takes several; an optional input that was left out is null. */
function imagesOf(value: unknown): AssetValue[] {
  return [value].flat().filter((one): one is AssetValue => typeof one === 'object' && one !== null && 'asset' in one)
}

function notAnImage(asset: string) {
  const reason = `image: the asset ${asset} is not an image.`
  return refuse(
    'invalid_request',
    { reason, resolution: 'Wire a PNG, JPEG or WebP image to the port.' },
    { param: 'image' },
  )
}

function tooLarge() {
  const reason = `image: the images of one chat call are more than ${chatLimits.forwardedBytes} bytes together with its text.`
  return refuse('invalid_request', { reason, resolution: 'Use smaller images, or fewer of them.' }, { param: 'image' })
}
