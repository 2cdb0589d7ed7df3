import { assetIdsOf, imageMisfit, type ImageAsset } from '@gateway/contracts/image-limits'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { Refusal } from '@gateway/contracts/refusal'
import type { Deps } from '../deps.ts'
import type { ChatCall } from '../request/read-chat.ts'
import { storable } from '../request/read-headers.ts'

/** What the ledger knows of the images of a call. */
export interface CheckedImages {
  /** The assets that it names, each once. */
  assets: ImageAsset[]
  /** Why its model can't take them; told only where the admission has nothing to say first. */
  misfit: Refusal | null
}

const NONE: CheckedImages = { assets: [], misfit: null }

/** Looks whether the model of a call takes its images (rules §3.11). A call without images is not asked about. */
export async function checkImages(
  { ledger }: Pick<Deps, 'ledger'>,
  { keyHash, selector, request: { model, images } }: ChatCall,
): Promise<CheckedImages> {
  if (images.length === 0) return NONE
  const assets = assetIdsOf(images)
  const answer = await ledger.readImages({ caller: { keyHash, selector }, model: storable(model), assets })
  if ('refused' in answer) return { assets: [], misfit: refusalFor(answer.refused, 'chat') }
  if (answer.limits === null)
    return { assets: [], misfit: refusalFor({ code: 'images_unsupported', facts: {} }, 'chat') }
  const recorded = new Map(answer.assets.map((asset) => [asset.id, asset]))
  return { assets: answer.assets, misfit: imageMisfit(images, recorded, answer.limits, 'chat') }
}
