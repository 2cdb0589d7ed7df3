import type { ProviderConfig } from '../provider-config.ts'
import type { WireCall, WireFormat } from '../wire-format.ts'
import { openChatEvents, rebuildCompletion, throwErrorInside } from './read-chat.ts'
import { hash } from 'node:crypto'
import type { Forwarded } from '@gateway/api/chat-request'

type Config = Extract<ProviderConfig, { kind: 'openai-compatible' }>
type CapField = NonNullable<Config['capField']>

/** Differences between providers of this format. */
export interface Dialect extends MessageRules {
  capField: CapField
  /** Whether streams request usage with `stream_options`. */
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

/** Reads responses in this format, regardless of the provider. */
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

/** OpenAI's newer models refuse `max_tokens`, and OpenAI has no fields for reasoning (docs/providers.md). */
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

/** Prepends our fields to the forwarded ones, whose text stays unchanged. */
function chatBody({ model, forwarded, outputCap, stream }: WireCall, dialect: Dialect): string {
  const usage = dialect.streamUsageField ? '"stream_options":{"include_usage":true},' : ''
  const streamed = stream ? `"stream":true,${usage}` : ''
  const rest = fitMessages(forwarded, dialect).slice(1)
  return `{"model":${JSON.stringify(model)},"${dialect.capField}":${outputCap},${streamed}${rest}`
}

/** Requirements of some providers on messages that came from another provider. */
export interface MessageRules {
  /** `nine-characters`: IDs must be nine letters and digits; others are refused. */
  toolCallIds: 'any' | 'nine-characters'
  /** Whether `reasoning_content` and `reasoning` of earlier responses are sent back. */
  reasoningHistory: boolean
}

type Message = Forwarded['messages'][number]

/**
 * Adapts the forwarded fields to the provider. Their text stays unchanged unless something must be removed.
 * `reasoning_details` is only for other wire formats (reasoning-item.ts) and is never sent in this one.
 */
export function fitMessages(forwarded: string, rules: MessageRules): string {
  if (!mayNeedFitting(forwarded, rules)) return forwarded
  const asked = JSON.parse(forwarded) as Forwarded
  return JSON.stringify({ ...asked, messages: asked.messages.map((message) => fitted(message, rules)) })
}

/** Searches the text, which is cheap. A match inside a prompt only costs a needless parse. */
function mayNeedFitting(forwarded: string, { toolCallIds, reasoningHistory }: MessageRules): boolean {
  return (
    forwarded.includes('"reasoning_details"') ||
    SAYS_NOTHING.test(forwarded) ||
    (!reasoningHistory && /"reasoning(_content)?"/.test(forwarded)) ||
    (toolCallIds !== 'any' && /"tool_call(s|_id)"/.test(forwarded))
  )
}

/** Null or absent content without tool calls after it, which most null content has. */
const SAYS_NOTHING = /"content":null(?!,"tool_calls")|"role":"assistant"(?!,"(?:content|tool_calls)")/

function fitted(message: Message, { toolCallIds, reasoningHistory }: MessageRules): object {
  const { reasoning_details: _, ...kept } = message as Message & { reasoning_details?: unknown }
  const said = withContent(reasoningHistory ? kept : withoutReasoning(kept))
  return toolCallIds === 'any' ? said : withShortIds(said)
}

/** Servers refuse an answer with neither content nor tool calls nor a refusal, such as one that only thought. */
function withContent(message: object): object {
  const { role, content = null, tool_calls: calls, refusal } = message as Extract<Message, { role: 'assistant' }>
  return role === 'assistant' && content === null && !calls && !refusal ? { ...message, content: '' } : message
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

/** Deterministic, so that a call and its result get the same ID. */
function nineCharacters(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hash('sha256', id).slice(0, 9)
}

type AzureConfig = Extract<ProviderConfig, { kind: 'azure-openai' }>

/**
 * Chat completions on Azure OpenAI: the same bodies, the key in the `api-key` header, and the deployment in the path if
 * an `apiVersion` is set.
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

/** Returns the path and key header for requests to a deployment. */
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
