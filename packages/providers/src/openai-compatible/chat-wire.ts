import type { ProviderConfig } from '../provider-config.ts'
import type { WireCall, WireFormat } from '../wire-format.ts'
import { openChatEvents } from './chat-events.ts'
import { throwErrorInside } from './error-inside.ts'
import { rebuildCompletion } from './rebuild-completion.ts'

type Config = Pick<Extract<ProviderConfig, { kind: 'openai-compatible' }>, 'apiKey' | 'capField'>

/** The chat-completions wire format. */
export function chatWire({ apiKey, capField }: Config): WireFormat {
  return {
    path: '/chat/completions',
    headers: apiKey === undefined ? [] : ['authorization', `Bearer ${apiKey}`],
    write: (call) => bodyOf(call, capField),
    readCompletion(body) {
      throwErrorInside(body)
      return rebuildCompletion(body)
    },
    openEvents: openChatEvents,
  }
}

/** Puts our fields in front of the forwarded ones, which stay the text they are. */
function bodyOf({ model, forwarded, outputCap, stream }: WireCall, capField: string): string {
  const streamed = stream ? '"stream":true,"stream_options":{"include_usage":true},' : ''
  return `{"model":${JSON.stringify(model)},"${capField}":${outputCap},${streamed}${forwarded.slice(1)}`
}
