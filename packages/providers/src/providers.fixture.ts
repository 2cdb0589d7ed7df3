import { startSimulatedProvider } from '@gateway/simulated-provider/start-provider'
import type { AnswerMessage, Choice, ToolCall } from '@gateway/api/chat-answer'
import { afterAll, beforeEach } from 'vitest'
import type { ChatCall, ChatChunk, Completion } from './chat-port.ts'
import { openProviders } from './open-providers.ts'
import type { Providers, ProvidersOptions } from './open-providers.ts'
import type { ProviderConfig } from './provider-config.ts'
import { providerConfig, readProviders } from './provider-config.ts'
import { ProviderFailure } from './provider-failure.ts'

export type Kind = ProviderConfig['kind']
/** All kinds, so that the contract tests cover new ones automatically. */
export const kinds: Kind[] = providerConfig.options.map(({ shape }) => shape.kind.value)

/** Path of each format on the simulated provider, and settings without a default. */
const placeOf: Record<Kind, { path: string; settings?: object }> = {
  'openai-compatible': { path: '/v1' },
  'openai-responses': { path: '/v1' },
  'azure-openai': { path: '/openai/v1' },
  anthropic: { path: '/v1' },
  gemini: { path: '/v1beta' },
  bedrock: { path: '', settings: { region: 'us-east-1' } },
}

export const toFirst = [{ provider: 'first', model: 'sim-swift' }]
export const toBoth = [...toFirst, { provider: 'second', model: 'sim-swift' }]

/** Connections to a provider whose settings leave them out. */
export const shares = { connections: 256, waitMs: 60_000 }

type CallOptions = Partial<ChatCall> & { parameters?: object }

export function call({ parameters, ...rest }: CallOptions = {}): ChatCall {
  const forwarded = JSON.stringify({ messages: [{ role: 'user', content: 'Name a harbour' }], ...parameters })
  return { routes: toFirst, project: 'prj_1', forwarded, outputCap: 500, stream: false, ...rest }
}

/** Starts two simulated providers, `first` and `second`, which are reset before each test. */
export async function twoProviders() {
  const first = await startSimulatedProvider()
  const second = await startSimulatedProvider()
  const failures: ProviderFailure[] = []
  const opened: Providers[] = []
  afterAll(async () => {
    await first.stop()
    await second.stop()
    await Promise.all(opened.map((each) => each.close()))
  })
  beforeEach(async () => {
    failures.length = 0
    for (const { control } of [first, second]) {
      await control.clearFaults()
      await control.release()
      await control.clearCalls()
    }
  })

  /** Opens both, by default with one try each and circuits that never open. `ofFirst` applies to `first` only. */
  function open(
    kind: Kind,
    settings: object = {},
    options: Partial<ProvidersOptions> = {},
    ofFirst: object = {},
  ): Providers {
    const each = (url: string, more: object = {}) => ({
      kind,
      baseUrl: `${url}${placeOf[kind].path}`,
      ...placeOf[kind].settings,
      apiKeyEnv: 'PROVIDER_KEY',
      allowPrivateAddress: true,
      tries: 1,
      circuitFailures: 1_000_000,
      ...settings,
      ...more,
    })
    const config = readProviders(JSON.stringify({ first: each(first.url, ofFirst), second: each(second.url) }), {
      PROVIDER_KEY: 'sk-canary',
    })
    const it = openProviders(config, { ...shares, attemptFailed: (failure) => failures.push(failure), ...options })
    opened.push(it)
    return it
  }

  return { first, second, failures, open }
}

export async function complete(through: Providers, more: CallOptions = {}): Promise<Completion> {
  const answer = await through.chat(call(more))
  if (answer.kind !== 'completion') throw new Error('not a completion')
  return answer.completion
}

export async function openStream(through: Providers, more: CallOptions = {}): Promise<AsyncIterable<ChatChunk>> {
  const answer = await through.chat(call({ stream: true, ...more }))
  if (answer.kind !== 'stream') throw new Error('not a stream')
  return answer.chunks
}

export async function readAll(chunks: AsyncIterable<ChatChunk>): Promise<ChatChunk[]> {
  const all: ChatChunk[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

export const textOf = (chunks: ChatChunk[]): string =>
  chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')

/** Returns the message of a stream and its finish reason, as a client puts them together. */
export function wholeOf(chunks: ChatChunk[]): Pick<Choice, 'finish_reason'> & { message: AnswerMessage } {
  const choices = chunks.flatMap((chunk) => chunk.choices)
  const calls: ToolCall[] = []
  for (const { index, id, function: called } of choices.flatMap(({ delta }) => delta.tool_calls ?? [])) {
    calls[index] ??= { id: id!, type: 'function', function: { name: called!.name!, arguments: '' } }
    calls[index].function.arguments += called?.arguments ?? ''
  }
  const details = choices.flatMap(({ delta }) => delta.reasoning_details ?? [])
  return {
    message: {
      role: 'assistant',
      content: textOf(chunks) || null,
      refusal: null,
      reasoning_content: choices.map(({ delta }) => delta.reasoning_content ?? '').join(''),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    finish_reason: choices.findLast((choice) => choice.finish_reason !== null)!.finish_reason!,
  }
}

export async function failureOf(promise: Promise<unknown>): Promise<ProviderFailure> {
  const reason = await promise.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  )
  if (reason instanceof ProviderFailure) return reason
  throw reason
}
