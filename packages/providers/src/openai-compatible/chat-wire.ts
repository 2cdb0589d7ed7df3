import type { ProviderConfig } from '../provider-config.ts'
import type { WireCall, WireFormat } from '../wire-format.ts'
import { openChatEvents, rebuildCompletion, throwErrorInside } from './read-chat.ts'
import { hash } from 'node:crypto'
import type { Forwarded } from '@gateway/api/chat-request'

type Config = Extract<ProviderConfig, { kind: 'openai-compatible' }>
type CapField = NonNullable<Config['capField']>

/** What differs among those who speak the format. */
export interface Dialect extends MessageRules {
  capField: CapField
  /** Whether usage is asked for by its own field in streams. */
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

/** Reads answers in this format, regardless of the provider. */
const chatAnswers = {
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
function chatBody({ model, forwarded, outputCap, stream }: WireCall, dialect: Dialect): string {
  const usage = dialect.streamUsageField ? '"stream_options":{"include_usage":true},' : ''
  const streamed = stream ? `"stream":true,${usage}` : ''
  const rest = fitMessages(forwarded, dialect).slice(1)
  return `{"model":${JSON.stringify(model)},"${dialect.capField}":${outputCap},${streamed}${rest}`
}

/** What some who speak the format want of messages that were answered by someone else. */
export interface MessageRules {
  /** `nine-characters`: an id is nine letters and digits, and any other is refused. */
  toolCallIds: 'any' | 'nine-characters'
  /** Whether `reasoning_content` and `reasoning` of earlier answers go back. */
  reasoningHistory: boolean
}

type Message = Forwarded['messages'][number]

/**
 * The forwarded fields as such a provider takes them. They stay the text they are unless something in them has to go.
 * `reasoning_details` is what other wire formats left for themselves (reasoning-seal.ts): it never goes out in this one.
 */
export function fitMessages(forwarded: string, rules: MessageRules): string {
  if (!mayNeedFitting(forwarded, rules)) return forwarded
  const asked = JSON.parse(forwarded) as Forwarded
  return JSON.stringify({ ...asked, messages: asked.messages.map((message) => fitted(message, rules)) })
}

/** A search in the text, which is cheap, and may find the word in a prompt: then it is parsed for nothing. */
function mayNeedFitting(forwarded: string, { toolCallIds, reasoningHistory }: MessageRules): boolean {
  return (
    forwarded.includes('"reasoning_details"') ||
    (!reasoningHistory && /"reasoning(_content)?"/.test(forwarded)) ||
    (toolCallIds !== 'any' && /"tool_call(s|_id)"/.test(forwarded))
  )
}

function fitted(message: Message, { toolCallIds, reasoningHistory }: MessageRules): object {
  const { reasoning_details: _, ...kept } = message as Message & { reasoning_details?: unknown }
  const said = reasoningHistory ? kept : withoutReasoning(kept)
  return toolCallIds === 'any' ? said : withShortIds(said)
}

function withoutReasoning(message: object): object {
  const { reasoning: _, reasoning_content: __, ...kept } = message as { reasoning?: string; reasoning_content?: string }
  return kept
}

function withShortIds(message: object): object {
  const { tool_calls: calls, tool_call_id: id } = message as { tool_calls?: { id: string }[]; tool_call_id?: string }
  return {
    ...message,
    ...(calls && { tool_calls: calls.map((call) => ({ ...call, id: nineCharacters(call.id) })) }),
    ...(id !== undefined && { tool_call_id: nineCharacters(id) }),
  }
}

/** The same for the call and for its result. */
function nineCharacters(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hash('sha256', id).slice(0, 9)
}

type AzureConfig = Extract<ProviderConfig, { kind: 'azure-openai' }>

/**
 * Chat completions as Azure OpenAI has them: the same bodies, the key in its own header, and the deployment in the
 * address where an `apiVersion` is given.
 */
export function azureChatWire(config: AzureConfig): WireFormat {
  const address = azureAddress(config)
  const dialect: Dialect = {
    capField: config.capField ?? 'max_completion_tokens',
    streamUsageField: true,
    toolCallIds: 'any',
    reasoningHistory: false,
  }
  return {
    request: (call) => ({ ...address(call.model, '/chat/completions'), body: chatBody(call, dialect) }),
    ...chatAnswers,
  }
}

/** Where a deployment is asked for something, and with which key. */
export function azureAddress({ apiKey, apiVersion }: Pick<AzureConfig, 'apiKey' | 'apiVersion'>) {
  const headers = apiKey === undefined ? [] : ['api-key', apiKey]
  return (deployment: string, path: string) => ({
    headers,
    path:
      apiVersion === undefined
        ? path
        : `/deployments/${encodeURIComponent(deployment)}${path}?api-version=${apiVersion}`,
  })
}
