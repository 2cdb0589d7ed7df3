import { buffer } from 'node:stream/consumers'
import { AssetMissing } from '@gateway/assets/asset-failures'
import type { AssetValue } from '@gateway/contracts/execution'
import { chatLimits } from '@gateway/contracts/limits'
import { refuse } from '@gateway/contracts/refusal'
import type { Deps } from '../deps.ts'
import { askUntilAnswered } from '../retry.ts'

/** Images of the execution's project as `data:` URLs, to be put into messages. Rejects with a Refusal for what can't be sent. */
export async function loadImages(
  { ledger, assets }: Pick<Deps, 'ledger' | 'assets'>,
  project: string,
  value: unknown,
  signal: AbortSignal,
): Promise<string[]> {
  const urls: string[] = []
  let bytes = 0
  for (const image of imagesOf(value)) {
    const found = await askUntilAnswered(signal, () => ledger.readAsset({ caller: { project }, asset: image.asset }))
    // What the value says of itself may come from a caller; what counts is what the ledger has recorded.
    if ('refused' in found) throw refuse('asset_not_found', { asset: image.asset })
    const { mimeType } = found.asset
    if (!mimeType.startsWith('image/')) throw notAnImage(image.asset)
    bytes += found.asset.bytes
    if (bytes > chatLimits.forwardedBytes) throw tooLarge()
    urls.push(`data:${mimeType};base64,${(await read(assets, project, image.asset)).toString('base64')}`)
  }
  return urls
}

async function read(assets: Pick<Deps['assets'], 'open'>, project: string, asset: string): Promise<Buffer> {
  try {
    return await buffer(await assets.open(project, asset))
  } catch (error) {
    throw error instanceof AssetMissing ? refuse('asset_not_found', { asset }) : error
  }
}

/** The port takes several; an optional input that was left out is null. */
function imagesOf(value: unknown): AssetValue[] {
  return [value]
    .flat()
    .filter((item): item is AssetValue => typeof item === 'object' && item !== null && 'asset' in item)
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
