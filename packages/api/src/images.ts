import { chatLimits } from './limits.ts'
import { type Refusal, refuse } from './refusal.ts'
import { decodedBytes, isBase64 } from './text-bytes.ts'

/** Bounds of a chat product on images, in addition to their price (rules §3.11). */
export interface ImageLimits {
  /** Of one image. */
  maxBytes: number
  /** Of one request. */
  maxCount: number
  /** Whether an image may be an https URL, which its provider fetches. */
  https: boolean
}

/** An asset named in a request, as recorded in the ledger. */
export interface ImageAsset {
  id: string
  mimeType: string
  bytes: number
}

/** Where the images come from: a chat call names its messages in a refusal, a node its port. */
export type ImageSurface = 'chat' | 'node'

/** Returns the ids of the assets among some images, without duplicates. */
export function assetIdsOf(images: readonly ChatImage[]): string[] {
  return [...new Set(images.flatMap((image) => (image.kind === 'asset' ? image.asset : [])))]
}

/**
 * Returns why a product can't take these images, or null if it can.
 * @param assets assets of the project that `images` names; a missing one does not exist in the project
 */
export function findImageError(
  images: readonly ChatImage[],
  assets: ReadonlyMap<string, ImageAsset>,
  limits: ImageLimits,
  surface: ImageSurface,
): Refusal | null {
  const imageError = (what: string, resolution: string) => unfit(surface, what, resolution)
  if (images.length > limits.maxCount)
    return imageError(`takes at most ${limits.maxCount} images, and these are ${images.length}`, 'Send fewer images.')
  let bytesOfAll = 0
  for (const image of images) {
    if (image.kind === 'https') {
      if (!limits.https)
        return imageError(
          'takes no image by its address',
          'Send the image as a data: URL, or upload it at POST /v1/assets and send asset: and its id.',
        )
      continue
    }
    if (image.kind === 'asset') {
      const asset = assets.get(image.asset)
      if (asset === undefined) return refuse('asset_not_found', { asset: image.asset })
      if (!asset.mimeType.startsWith('image/'))
        return imageError(
          `takes images, and the asset ${image.asset} is ${asset.mimeType}`,
          'Name a PNG, JPEG or WebP image.',
        )
    }
    const bytes = image.kind === 'asset' ? assets.get(image.asset)!.bytes : image.bytes
    if (bytes > limits.maxBytes)
      return imageError(
        `takes images of at most ${limits.maxBytes} bytes, and one has ${bytes}`,
        'Use a smaller image.',
      )
    bytesOfAll += bytes
  }
  if (bytesOfAll > chatLimits.imageBytes)
    return imageError(
      `takes images of ${chatLimits.imageBytes} bytes together, and these have ${bytesOfAll}`,
      'Use smaller images, or fewer of them.',
    )
  return null
}

function unfit(surface: ImageSurface, what: string, resolution: string): Refusal {
  const param = surface === 'node' ? 'image' : 'messages'
  return refuse('invalid_request', { reason: `${param}: this model ${what}.`, resolution }, { param })
}

// Images of a chat request (rules §3.11). Their data is not text: reading a request takes it out of the messages, and
// writing the request to a provider puts it back.

/** An image of a chat request. The messages hold `reference` in its place. */
export type ChatImage =
  | { kind: 'data'; reference: string; url: string; bytes: number }
  | { kind: 'asset'; reference: string; asset: string }
  | { kind: 'https'; reference: string }

const DATA = /^data:image\/(?:png|jpeg|webp|gif);base64,/
const ASSET = /^asset:(ast_[A-Za-z0-9_-]{1,60})$/
const LONGEST_ADDRESS = 2_048

/** Returns whether a text is one of the three forms of an image reference. */
export function isImageUrl(url: string): boolean {
  return isImageData(url) || ASSET.test(url) || isHttps(url)
}

/** Returns whether a text is a `data:` URL of a base64 image. Such a text needs no escapes in JSON. */
export function isImageData(url: string): boolean {
  return DATA.test(url) && isBase64(url.slice(url.indexOf(',') + 1))
}

function isHttps(url: string): boolean {
  if (!/^https:\/\//i.test(url) || url.length > LONGEST_ADDRESS || !URL.canParse(url)) return false
  const { username, password } = new URL(url)
  return username === '' && password === ''
}

interface ImagePart {
  type: 'image_url'
  image_url: { url: string; detail?: 'auto' | 'low' | 'high' | undefined }
}
type Part = ImagePart | { type: 'text' | 'refusal' }
interface Message {
  content?: string | readonly Part[] | null | undefined
}

/**
 * Returns the messages with `image:<n>` in place of image data, and all images in order.
 * @param dataUrls `data:` URLs that the messages have placeholders for, by placeholder
 */
export function takeImagesOut<M extends Message>(
  messages: readonly M[],
  dataUrls: ReadonlyMap<string, string> = NO_URLS,
): { messages: M[]; images: ChatImage[] } {
  const images: ChatImage[] = []
  const short = eachImage(messages, (url) => {
    const image = imageOf(dataUrls.get(url) ?? url, images.length)
    images.push(image)
    return image.reference
  })
  return { messages: short, images }
}

function imageOf(url: string, n: number): ChatImage {
  const asset = ASSET.exec(url)?.[1]
  if (asset !== undefined) return { kind: 'asset', reference: url, asset }
  if (!url.startsWith('data:')) return { kind: 'https', reference: url }
  return { kind: 'data', reference: `image:${n}`, url, bytes: decodedBytes(url.slice(url.indexOf(',') + 1)) }
}

const NO_URLS: ReadonlyMap<string, string> = new Map()

/** Returns the messages with each image's `url` replaced. */
export function eachImage<M extends Message>(messages: readonly M[], write: (url: string) => string): M[] {
  return messages.map((message) => {
    const { content } = message
    if (!Array.isArray(content) || !content.some(isImagePart)) return message
    const parts = (content as readonly Part[]).map((part) =>
      isImagePart(part) ? { ...part, image_url: { ...part.image_url, url: write(part.image_url.url) } } : part,
    )
    return { ...message, content: parts }
  })
}

function isImagePart(part: Part): part is ImagePart {
  return part.type === 'image_url'
}
