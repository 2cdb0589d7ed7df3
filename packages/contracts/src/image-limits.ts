import type { ChatImage } from './chat-images.ts'
import { chatLimits } from './limits.ts'
import { refuse, type Refusal } from './refusal.ts'

/** What a chat product takes of images, besides what they cost (rules §3.11). */
export interface ImageLimits {
  /** Of one image. */
  maxBytes: number
  /** Of one request. */
  maxCount: number
  /** Whether an image may be an address that its provider fetches. */
  https: boolean
}

/** An asset that a request names, as the ledger has recorded it. */
export interface ImageAsset {
  id: string
  mimeType: string
  bytes: number
}

/** Whoever asks: a chat call names its messages, a node its port. */
export type ImageSurface = 'chat' | 'node'

/** The ids of the assets among some images, each once. */
export function assetIdsOf(images: readonly ChatImage[]): string[] {
  return [...new Set(images.flatMap((image) => (image.kind === 'asset' ? image.asset : [])))]
}

/**
 * Why a product can't take these images; null where it can.
 * @param assets those of the project that `images` name; one that is missing is none of the project's
 */
export function imageMisfit(
  images: readonly ChatImage[],
  assets: ReadonlyMap<string, ImageAsset>,
  limits: ImageLimits,
  surface: ImageSurface,
): Refusal | null {
  const misfit = (what: string, resolution: string) => unfit(surface, what, resolution)
  if (images.length > limits.maxCount)
    return misfit(`takes at most ${limits.maxCount} images, and these are ${images.length}`, 'Send fewer images.')
  let bytesOfAll = 0
  for (const image of images) {
    if (image.kind === 'https') {
      if (!limits.https)
        return misfit(
          'takes no image by its address',
          'Send the image as a data: URL, or upload it at POST /v1/assets and send asset: and its id.',
        )
      continue
    }
    if (image.kind === 'asset') {
      const asset = assets.get(image.asset)
      if (asset === undefined) return refuse('asset_not_found', { asset: image.asset })
      if (!asset.mimeType.startsWith('image/'))
        return misfit(
          `takes images, and the asset ${image.asset} is ${asset.mimeType}`,
          'Name a PNG, JPEG or WebP image.',
        )
    }
    const bytes = image.kind === 'asset' ? assets.get(image.asset)!.bytes : image.bytes
    if (bytes > limits.maxBytes)
      return misfit(`takes images of at most ${limits.maxBytes} bytes, and one has ${bytes}`, 'Use a smaller image.')
    bytesOfAll += bytes
  }
  if (bytesOfAll > chatLimits.imageBytes)
    return misfit(
      `takes images of ${chatLimits.imageBytes} bytes together, and these have ${bytesOfAll}`,
      'Use smaller images, or fewer of them.',
    )
  return null
}

function unfit(surface: ImageSurface, what: string, resolution: string): Refusal {
  const param = surface === 'node' ? 'image' : 'messages'
  return refuse('invalid_request', { reason: `${param}: this model ${what}.`, resolution }, { param })
}
