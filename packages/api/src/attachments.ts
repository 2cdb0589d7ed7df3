import { chatLimits } from './limits.ts'
import { type Refusal, refuse } from './refusal.ts'
import { decodedBytes, isBase64 } from './text-bytes.ts'

// Images and files of a chat request (rules §3.11). Their data is not text: reading a request takes it out of the
// messages, and writing the request to a provider puts it back.

/** Part of a message that has an attachment. */
export type AttachmentPart = 'image' | 'file'

/** An image or a file of a chat request. The messages hold `reference` in its place. */
export type Attachment = { part: AttachmentPart; reference: string } & (
  | { kind: 'data'; url: string; bytes: number }
  | { kind: 'asset'; asset: string }
  | { kind: 'https' }
)

/** What a chat product accepts, in addition to their price. */
export interface AttachmentLimits {
  /** null: no images. */
  images: ImageLimits | null
  files: boolean
}

export interface ImageLimits {
  /** Of one image. */
  maxBytes: number
  /** Of one request. */
  maxCount: number
  /** Whether an image may be an https URL, which its provider fetches. */
  https: boolean
}

/** An asset named in a request, as recorded in the ledger. */
export interface NamedAsset {
  id: string
  mimeType: string
  bytes: number
}

/** Where the attachments come from: a chat call names its messages in a refusal, a node its port. */
export type AttachmentSurface = 'chat' | 'node'

/** Returns the ids of the assets among some attachments, without duplicates. */
export function assetIdsOf(attachments: readonly Attachment[]): string[] {
  return [...new Set(attachments.flatMap((each) => (each.kind === 'asset' ? each.asset : [])))]
}

/**
 * Returns why a product can't take these attachments, or null if it can. Whether it takes images or files at all is a
 * rule of the ledger.
 * @param assets assets of the project that `attachments` names; a missing one does not exist in the project
 */
export function findAttachmentError(
  attachments: readonly Attachment[],
  assets: ReadonlyMap<string, NamedAsset>,
  limits: ImageLimits | null,
  surface: AttachmentSurface,
): Refusal | null {
  const attachmentError = (what: string, resolution: string) => unfit(surface, what, resolution)
  const images = attachments.filter(({ part }) => part === 'image').length
  if (limits !== null && images > limits.maxCount)
    return attachmentError(`takes at most ${limits.maxCount} images, and these are ${images}`, 'Send fewer images.')
  let bytesOfAll = 0
  for (const each of attachments) {
    if (each.kind === 'https') {
      if (!limits?.https)
        return attachmentError(
          'takes no image by its address',
          'Send the image as a data: URL, or upload it at POST /v1/assets and send asset: and its id.',
        )
      continue
    }
    if (each.kind === 'asset') {
      const asset = assets.get(each.asset)
      if (asset === undefined) return refuse('asset_not_found', { asset: each.asset })
      if (each.part === 'image' && !asset.mimeType.startsWith('image/'))
        return attachmentError(
          `takes images, and the asset ${each.asset} is ${asset.mimeType}`,
          'Name a PNG, JPEG or WebP image.',
        )
      if (each.part === 'file' && asset.mimeType !== PDF)
        return attachmentError(`takes PDF files, and the asset ${each.asset} is ${asset.mimeType}`, 'Name a PDF.')
    }
    const bytes = each.kind === 'asset' ? assets.get(each.asset)!.bytes : each.bytes
    if (each.part === 'image' && limits !== null && bytes > limits.maxBytes)
      return attachmentError(
        `takes images of at most ${limits.maxBytes} bytes, and one has ${bytes}`,
        'Use a smaller image.',
      )
    bytesOfAll += bytes
  }
  if (bytesOfAll > chatLimits.attachmentBytes)
    return attachmentError(
      `takes images and files of ${chatLimits.attachmentBytes} bytes together, and these have ${bytesOfAll}`,
      'Use smaller ones, or fewer of them.',
    )
  return null
}

function unfit(surface: AttachmentSurface, what: string, resolution: string): Refusal {
  const param = surface === 'node' ? 'image' : 'messages'
  return refuse('invalid_request', { reason: `${param}: this model ${what}.`, resolution }, { param })
}

const PDF = 'application/pdf'
const IMAGE_DATA = /^data:image\/(?:png|jpeg|webp|gif);base64,/
const FILE_DATA = /^data:application\/pdf;base64,/
const ASSET = /^asset:(ast_[A-Za-z0-9_-]{1,60})$/
const LONGEST_ADDRESS = 2_048

/** Returns whether a text is one of the three forms of an image reference. */
export function isImageUrl(url: string): boolean {
  return isImageData(url) || ASSET.test(url) || isHttps(url)
}

/** Returns whether a text is one of the two forms of a file reference. */
export function isFileUrl(url: string): boolean {
  return isData(FILE_DATA, url) || ASSET.test(url)
}

/** Returns whether a text is a `data:` URL of a base64 image. Such a text needs no escapes in JSON. */
export function isImageData(url: string): boolean {
  return isData(IMAGE_DATA, url)
}

/** The same for an image or a file. */
export function isAttachmentData(url: string): boolean {
  return isImageData(url) || isData(FILE_DATA, url)
}

function isData(head: RegExp, url: string): boolean {
  return head.test(url) && isBase64(url.slice(url.indexOf(',') + 1))
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
interface FilePart {
  type: 'file'
  file: { file_data: string; filename: string }
}
type Part = ImagePart | FilePart | { type: 'text' | 'refusal' }
interface Message {
  content?: string | readonly Part[] | null | undefined
}

/**
 * Returns the messages with `image:<n>` or `file:<n>` in place of data, and all attachments in order.
 * @param dataUrls `data:` URLs that the messages have placeholders for, by placeholder
 */
export function takeAttachmentsOut<M extends Message>(
  messages: readonly M[],
  dataUrls: ReadonlyMap<string, string> = NO_URLS,
): { messages: M[]; attachments: Attachment[] } {
  const attachments: Attachment[] = []
  const short = eachAttachment(messages, (url, part) => {
    const attachment = attachmentOf(part, dataUrls.get(url) ?? url, attachments.length)
    attachments.push(attachment)
    return attachment.reference
  })
  return { messages: short, attachments }
}

function attachmentOf(part: AttachmentPart, url: string, n: number): Attachment {
  const asset = ASSET.exec(url)?.[1]
  if (asset !== undefined) return { part, kind: 'asset', reference: url, asset }
  if (!url.startsWith('data:')) return { part, kind: 'https', reference: url }
  return { part, kind: 'data', reference: `${part}:${n}`, url, bytes: decodedBytes(url.slice(url.indexOf(',') + 1)) }
}

const NO_URLS: ReadonlyMap<string, string> = new Map()

/** Returns the messages with the URL of each attachment replaced. */
export function eachAttachment<M extends Message>(
  messages: readonly M[],
  write: (url: string, part: AttachmentPart) => string,
): M[] {
  return messages.map((message) => {
    const { content } = message
    if (!Array.isArray(content) || !(content as readonly Part[]).some(isAttached)) return message
    const parts = (content as readonly Part[]).map((part) => {
      if (part.type === 'image_url')
        return { ...part, image_url: { ...part.image_url, url: write(part.image_url.url, 'image') } }
      if (part.type === 'file')
        return { ...part, file: { ...part.file, file_data: write(part.file.file_data, 'file') } }
      return part
    })
    return { ...message, content: parts }
  })
}

function isAttached({ type }: Part): boolean {
  return type === 'image_url' || type === 'file'
}
