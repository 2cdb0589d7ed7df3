import { startSimulatedOrigin } from '@gateway/simulated-origin/start-origin'
import { afterAll, beforeEach } from 'vitest'
import type { ChatCall, ChatChunk, Completion } from './chat-port.ts'
import { openOrigins } from './open-origins.ts'
import type { Origins, OriginsOptions } from './open-origins.ts'
import type { OriginConfig } from './origin-config.ts'
import { readOrigins } from './origin-config.ts'
import { OriginFailure } from './origin-failure.ts'

export type Kind = OriginConfig['kind']
export const kinds: Kind[] = ['openai-compatible', 'anthropic']

export const toFirst = [{ origin: 'first', model: 'sim-swift' }]
export const toBoth = [...toFirst, { origin: 'second', model: 'sim-swift' }]

type CallOptions = Partial<ChatCall> & { parameters?: object }

export function call({ parameters, ...rest }: CallOptions = {}): ChatCall {
  const forwarded = JSON.stringify({ messages: [{ role: 'user', content: 'Name a harbour' }], ...parameters })
  return { routes: toFirst, forwarded, outputCap: 500, stream: false, ...rest }
}

/** Two simulated origins, `first` and `second`, and ways to call them; a clean sheet before each test. */
export async function twoOrigins() {
  const first = await startSimulatedOrigin()
  const second = await startSimulatedOrigin()
  const failures: OriginFailure[] = []
  const opened: Origins[] = []
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

  /** Each is asked once and never rests, unless `settings` say so. */
  function open(kind: Kind, settings: object = {}, options: OriginsOptions = {}): Origins {
    const each = (url: string) => ({
      kind,
      baseUrl: `${url}/v1`,
      apiKeyEnv: 'ORIGIN_KEY',
      allowPrivateAddress: true,
      tries: 1,
      circuitFailures: 1_000_000,
      ...settings,
    })
    const config = readOrigins(JSON.stringify({ first: each(first.url), second: each(second.url) }), {
      ORIGIN_KEY: 'sk-canary',
    })
    const it = openOrigins(config, { attemptFailed: (failure) => failures.push(failure), ...options })
    opened.push(it)
    return it
  }

  return { first, second, failures, open }
}

export async function complete(through: Origins, more: CallOptions = {}): Promise<Completion> {
  const answer = await through.chat(call(more))
  if (answer.kind !== 'completion') throw new Error('not a completion')
  return answer.completion
}

export async function openStream(through: Origins, more: CallOptions = {}): Promise<AsyncIterable<ChatChunk>> {
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

export async function failureOf(promise: Promise<unknown>): Promise<OriginFailure> {
  const reason = await promise.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  )
  if (reason instanceof OriginFailure) return reason
  throw reason
}
