import type { MediaWish } from '../media-port.ts'
import type { MediaDecoder, MediaWire } from '../read-media.ts'
import type { ProviderConfig } from '../provider-config.ts'
import { authorization, azureAddress } from './chat-wire.ts'
import { parseUntrusted, UnfitAnswer } from '../untrusted.ts'
import { throwErrorInside } from './read-chat.ts'

type Config = Extract<ProviderConfig, { kind: 'openai-compatible' | 'azure-openai' }>

/** What stands around the base64 of an image: its model, its revised prompt. */
const AROUND_BYTES = 256 * 1024

/** The images wire format, of which only base64 is taken, and the speech wire format. */
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
    wireBytes: ({ kind }, maxBytes) => (kind === 'image' ? Math.ceil(maxBytes / 3) * 4 + AROUND_BYTES : maxBytes),
  }
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

// Reads the base64 of one field of a JSON body while it comes, so that an image is never in memory whole.
//   F1  The first field of that name counts, wherever it is; a name inside a string is none.
//   F2  What stands around it is kept, bounded, and is parsed once it is all there: a body that is not JSON, or breaks off, is
//       no answer, and neither is one that says it is an error.
//   F3  Base64 is decoded four characters at a time; other characters are refused, not skipped.

/** Of what is not base64, in bytes. */
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
  let escape = '' // an escape that is not complete, inside base64
  let escaped = false // the character before was a backslash, inside a string
  let recent = '' // the end of what stands around, enough to see whether the field begins
  let rest = '' // base64 that makes no whole group yet
  let padded = false

  function keep(bytes: Buffer): void {
    aroundBytes += bytes.length
    if (aroundBytes > MOST_AROUND) throw new UnfitAnswer('too much stands around the image')
    around.push(Buffer.from(bytes)) // a copy, so that the chunk can go
  }

  /** Goes to where the base64 begins, or to the end. */
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

  /** Whether a value begins here whose name is the field's: `"b64_json" : "`. */
  function begins(text: string): boolean {
    const before = text.slice(0, -1).trimEnd()
    return before.endsWith(':') && before.slice(0, -1).trimEnd().endsWith(key)
  }

  /** Takes base64 up to its quote. Answers where it ends and what it says. */
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

  /** JSON may write `/` and `+` as escapes. */
  function unescape(text: string): string {
    if (escape === '' && !text.includes('\\')) return text
    let said = ''
    for (const letter of text) {
      if (escape === '' && letter !== '\\') {
        said += letter
        continue
      }
      escape += letter
      const letters = /^\\(?:u([0-9a-fA-F]{4})|([^u]))$/.exec(escape)
      if (!letters) continue
      said += letters[1] === undefined ? letters[2]! : String.fromCharCode(Number.parseInt(letters[1], 16))
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

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
