import type { MediaWish } from '../provider-adapter.ts'
import type { MediaDecoder, MediaWire } from '../read-media.ts'
import type { ProviderConfig } from '../provider-config.ts'
import { authorization, azureAddress } from './chat-wire.ts'
import { parseUntrusted, UnfitAnswer } from '../untrusted.ts'
import { throwErrorInside } from './read-chat.ts'

type Config = Extract<ProviderConfig, { kind: 'openai-compatible' | 'azure-openai' }>

/** Allowance for the JSON around the base64 of an image, such as its model and revised prompt. */
const AROUND_BYTES = 256 * 1024

/** The images wire format, accepting only base64, and the speech wire format. */
export function mediaWire(config: Config): MediaWire {
  const { imageFormatField } = config
  const address = config.kind === 'azure-openai' ? azureAddress(config) : openAiAddress(config)
  return {
    request: (model, wish) => ({
      ...address(model, wish.kind === 'image' ? '/images/generations' : '/audio/speech'),
      body: JSON.stringify({ model, ...fieldsOf(wish, imageFormatField) }),
    }),
    contentTypes: ({ kind }) => (kind === 'image' ? ['application/json'] : ['audio/', 'application/octet-stream']),
    openDecoder: ({ kind }) => (kind === 'image' ? openBase64Field('b64_json') : asItIs()),
    wireBytes: ({ kind }, maxBytes) => (kind === 'image' ? base64Bytes(maxBytes) + AROUND_BYTES : maxBytes),
  }
}

/** Length of this many bytes as MIME base64: each line of 76 characters ends with a line break, four as JSON escapes. */
function base64Bytes(bytes: number): number {
  return Math.ceil((Math.ceil(bytes / 3) * 4 * 80) / 76)
}

function openAiAddress({ apiKey }: Pick<Config, 'apiKey'>) {
  const headers = authorization({ apiKey })
  return (_model: string, path: string) => ({ headers, path })
}

function fieldsOf(wish: MediaWish, imageFormatField: boolean): object {
  if (wish.kind === 'audio')
    return {
      input: wish.text,
      ...(wish.voice !== null && { voice: wish.voice }),
      response_format: wish.format ?? 'wav',
    }
  const { prompt, size, format, quality } = wish
  return {
    prompt,
    n: 1,
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(format !== undefined && { output_format: format }),
    ...(imageFormatField && { response_format: 'b64_json' }),
  }
}

function asItIs(): MediaDecoder {
  return { take: (bytes) => bytes, end() {} }
}

// Decodes the base64 of one field of a JSON body as it arrives, so that an image is never in memory whole.
//   F1  The first field of that name counts, at any depth. The name inside a string doesn't count.
//   F2  The JSON around it is buffered, up to a limit, and parsed at the end. Invalid or truncated JSON and an error
//       body are rejected.
//   F3  Base64 is decoded in groups of four characters. Line breaks, which MIME base64 has every 76 characters, are
//       skipped; any other character is rejected.

/** Limit on the JSON around the base64, in bytes. */
const MOST_AROUND = 256 * 1024

const QUOTE = 0x22
const BACKSLASH = 0x5c

type State = 'outside' | 'string' | 'base64'

export function openBase64Field(name: string): MediaDecoder {
  const key = JSON.stringify(name)
  const around: Buffer[] = []
  let aroundBytes = 0
  let state: State = 'outside'
  let found = false
  let escape = '' // an incomplete escape inside base64
  let escaped = false // the previous character was a backslash inside a string
  let recent = '' // the last characters before the position, enough to recognize the start of the field
  let rest = '' // base64 of an incomplete group
  let padded = false

  function keep(bytes: Buffer): void {
    aroundBytes += bytes.length
    if (aroundBytes > MOST_AROUND) throw new UnfitAnswer('too much stands around the image')
    around.push(Buffer.from(bytes)) // copied, so that the chunk can be freed
  }

  /** Returns the position where the base64 starts, or the end. */
  function lookFor(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!
      recent = (recent + String.fromCharCode(byte)).slice(-64)
      if (state === 'string') {
        if (escaped) escaped = false
        else if (byte === BACKSLASH) escaped = true
        else if (byte === QUOTE) state = 'outside'
      } else if (byte === QUOTE) {
        state = !found && begins(recent) ? 'base64' : 'string'
        if (state === 'base64') {
          keep(bytes.subarray(from, at + 1))
          return at + 1
        }
      }
    }
    keep(bytes.subarray(from))
    return bytes.length
  }

  /** Whether the value of the field starts here: `"b64_json" : "`. */
  function begins(text: string): boolean {
    const before = text.slice(0, -1).trimEnd()
    return before.endsWith(':') && before.slice(0, -1).trimEnd().endsWith(key)
  }

  /** Decodes base64 up to its closing quote. Returns its end and the decoded bytes. */
  function decode(bytes: Buffer, from: number): { end: number; decoded: Buffer } {
    const quote = bytes.indexOf(QUOTE, from)
    const end = quote < 0 ? bytes.length : quote
    const text = rest + unescape(bytes.toString('latin1', from, end))
    const whole = quote < 0 ? text.length - (text.length % 4) : text.length
    rest = text.slice(whole)
    const decoded = groups(text.slice(0, whole))
    if (quote < 0) return { end, decoded }
    if (escape !== '') throw new UnfitAnswer('an escape breaks off')
    found = true
    state = 'outside'
    keep(bytes.subarray(quote, quote + 1))
    return { end: quote + 1, decoded }
  }

  /** Resolves JSON escapes, which may encode `/`, `+` and line breaks. */
  function unescape(text: string): string {
    if (escape === '' && !text.includes('\\')) return text
    let said = ''
    for (const letter of text) {
      if (escape === '' && letter !== '\\') {
        said += letter
        continue
      }
      escape += letter
      if (escape.length < (escape.startsWith('\\u') ? 6 : 2)) continue
      said += escapedCharacter(escape)
      escape = ''
    }
    return said
  }

  function groups(text: string): Buffer {
    if (text === '') return Buffer.alloc(0)
    if (padded || text.length % 4 !== 0 || !BASE64.test(text)) throw new UnfitAnswer('the image is not base64')
    padded = text.endsWith('=')
    return Buffer.from(text, 'base64')
  }

  return {
    take(bytes) {
      let said: Buffer | null = null
      for (let at = 0; at < bytes.length;) {
        if (state === 'base64') {
          const { end, decoded } = decode(bytes, at)
          if (decoded.length > 0) said = said === null ? decoded : Buffer.concat([said, decoded])
          at = end
        } else at = lookFor(bytes, at)
      }
      return said
    },
    end() {
      const body = parseUntrusted(Buffer.concat(around).toString(), 'the body') // F2: base64 left open is open JSON
      throwErrorInside(body)
      if (!found) throw new UnfitAnswer('there is no image in the answer')
    },
  }
}

/** Returns '' for a line break (F3). */
function escapedCharacter(escape: string): string {
  if (escape === '\\/') return '/'
  if (escape === '\\n' || escape === '\\r') return ''
  const [, code] = /^\\u([0-9a-fA-F]{4})$/.exec(escape) ?? []
  if (code === undefined) throw new UnfitAnswer('an escape is not of base64')
  return String.fromCharCode(Number.parseInt(code, 16)).replace(/[\r\n]/, '')
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
