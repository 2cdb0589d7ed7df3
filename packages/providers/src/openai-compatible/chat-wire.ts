import type { ProviderConfig } from '../provider-config.ts'
import type { WireCall, WireFormat } from '../wire-format.ts'
import { openChatEvents } from './chat-events.ts'
import { throwErrorInside } from './error-inside.ts'
import { fitMessages, type MessageRules } from './fit-messages.ts'
import { rebuildCompletion } from './rebuild-completion.ts'

type Config = Extract<ProviderConfig, { kind: 'openai-compatible' }>
type CapField = NonNullable<Config['capField']>

/** What differs among those who speak the format. */
export interface Dialect extends MessageRules {
  capField: CapField
  /** Whether usage is asked for by a field of its own in streams. */
  streamUsageField: boolean
}

/** The chat-completions wire format. */
export function chatWire(config: Config): WireFormat {
  const headers = authorization(config)
  const dialect = { ...byHost(config.baseUrl), ...given(config) }
  return {
    request: (call) => ({ path: '/chat/completions', headers, body: chatBody(call, dialect) }),
    ...chatAnswers,
  }
}

/** How answers in this format are read, whoever gives them. */
export const chatAnswers = {
  readCompletion(body) {
    throwErrorInside(body)
    return rebuildCompletion(body)
  },
  openEvents: openChatEvents,
} satisfies Partial<WireFormat>

export function authorization({ apiKey }: Pick<Config, 'apiKey'>): string[] {
  return apiKey === undefined ? [] : ['authorization', `Bearer ${apiKey}`]
}

/** OpenAI's newer models refuse `max_tokens`, and it has no fields for reasoning (docs/providers.md). */
function byHost(baseUrl: string): Pick<Dialect, 'capField' | 'reasoningHistory'> {
  const openAi = new URL(baseUrl).hostname === 'api.openai.com'
  return { capField: openAi ? 'max_completion_tokens' : 'max_tokens', reasoningHistory: !openAi }
}

function given({ capField, reasoningHistory, streamUsageField, toolCallIds }: Config) {
  return {
    streamUsageField,
    toolCallIds,
    ...(capField !== undefined && { capField }),
    ...(reasoningHistory !== undefined && { reasoningHistory }),
  }
}

/** Puts our fields in front of the forwarded ones, which stay the text they are. */
export function chatBody({ model, forwarded, outputCap, stream }: WireCall, dialect: Dialect): string {
  const usage = dialect.streamUsageField ? '"stream_options":{"include_usage":true},' : ''
  const streamed = stream ? `"stream":true,${usage}` : ''
  const rest = fitMessages(forwarded, dialect).slice(1)
  return `{"model":${JSON.stringify(model)},"${dialect.capField}":${outputCap},${streamed}${rest}`
}
