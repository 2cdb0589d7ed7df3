import { randomUUID } from 'node:crypto'
import { eachImage } from '@gateway/contracts/chat-images'
import { IGNORED_IF_UNSUPPORTED, type ChatRequest, type Forwarded } from '@gateway/contracts/chat-request'

const NO_URLS: ReadonlyMap<string, string> = new Map()

/**
 * The text that goes to the provider: what the caller sent, measured and written once. It is written again only to leave out
 * temperature, top_p or seed where the model does not take them (rules §3.3), and to put the data of images in.
 * @param assetUrls what the request names of the project's assets as `data:` URLs, by reference
 */
export function forwardedFor(
  { forwarded, forwardedJson, images }: ChatRequest,
  supportedParameters: string[],
  assetUrls: ReadonlyMap<string, string> = NO_URLS,
): string {
  const unwanted = IGNORED_IF_UNSUPPORTED.filter(
    (field) => forwarded[field] !== undefined && !supportedParameters.includes(field),
  )
  if (unwanted.length === 0 && images.length === 0) return forwardedJson
  const wanted = { ...forwarded, ...Object.fromEntries(unwanted.map((field) => [field, undefined])) }
  if (images.length === 0) return JSON.stringify(wanted)
  const urls = new Map(assetUrls)
  for (const image of images) if (image.kind === 'data') urls.set(image.reference, image.url)
  return jsonWithImages(wanted, urls)
}

/**
 * The data is put into the text as it is: to write megabytes as JSON takes long, and changes nothing in them.
 * @param urls by reference; what is not among them stays as it is
 */
function jsonWithImages(forwarded: Forwarded, urls: ReadonlyMap<string, string>): string {
  const word = randomUUID() // that nothing in the request says
  const put: string[] = []
  const messages = eachImage(forwarded.messages, (reference) => {
    const url = urls.get(reference)
    if (url === undefined) return reference
    put.push(url)
    return word
  })
  const [first = '', ...others] = JSON.stringify({ ...forwarded, messages }).split(word)
  return others.reduce((text, part, n) => text + put[n] + part, first)
}
