import type { MediaWish } from '../media-port.ts'
import type { MediaDecoder, MediaWire } from '../media-wire.ts'
import type { ProviderConfig } from '../provider-config.ts'
import { azureAddress } from './azure-wire.ts'
import { openBase64Field } from './base64-field.ts'
import { authorization } from './chat-wire.ts'

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
