import { imageUrls } from '@gateway/assets/image-urls'
import { isImageUrl } from '@gateway/contracts/chat-images'
import type { ChatRequest } from '@gateway/contracts/chat-request'
import type { AssetValue } from '@gateway/contracts/execution'
import { assetIdsOf, imageMisfit, type ImageAsset } from '@gateway/contracts/image-limits'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { refuse } from '@gateway/contracts/refusal'
import type { Deps } from '../deps.ts'
import { askUntilAnswered } from '../retry.ts'

/**
 * How a chat names the images at a port, which takes several; an optional input that was left out is null.
 * @throws Refusal `asset_not_found` for what can be no id
 */
export function imageReferences(value: unknown): string[] {
  return [value]
    .flat()
    .filter((item): item is AssetValue => typeof item === 'object' && item !== null && 'asset' in item)
    .map(({ asset }) => {
      const reference = `asset:${asset}`
      if (!isImageUrl(reference)) throw refuse('asset_not_found', { asset: asset.slice(0, 64) })
      return reference
    })
}

/**
 * What the ledger has recorded of the images of a node's call: what a value says of itself may come from a caller.
 * @throws Refusal for what the product can't take; nothing is reserved yet
 */
export async function checkImages(
  { ledger }: Pick<Deps, 'ledger'>,
  project: string,
  { model, images }: ChatRequest,
  signal: AbortSignal,
): Promise<ImageAsset[]> {
  if (images.length === 0) return []
  const assets = assetIdsOf(images)
  const answer = await askUntilAnswered(signal, () => ledger.readImages({ caller: { project }, model, assets }))
  if ('refused' in answer) throw refusalFor(answer.refused, 'node')
  if (answer.limits === null) return answer.assets // the admission says why
  const misfit = imageMisfit(images, new Map(answer.assets.map((asset) => [asset.id, asset])), answer.limits, 'node')
  if (misfit !== null) throw misfit
  return answer.assets
}

/**
 * Does something with the images as `data:` URLs, by reference, once there is memory for them.
 * @throws Refusal `asset_not_found`; AssetStoreUnavailable; the signal's reason
 */
export async function withImages<Answer>(
  { assets: store, imageMemory }: Pick<Deps, 'assets' | 'imageMemory'>,
  project: string,
  assets: readonly ImageAsset[],
  signal: AbortSignal,
  work: (urls: Map<string, string>) => Promise<Answer>,
): Promise<Answer> {
  if (assets.length === 0) return work(new Map())
  const bytes = assets.reduce((sum, asset) => sum + asset.bytes, 0)
  const giveBack = await imageMemory.take(project, bytes, signal)
  try {
    return await work(await imageUrls(store, project, assets))
  } finally {
    giveBack()
  }
}
