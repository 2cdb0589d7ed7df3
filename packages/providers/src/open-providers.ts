import type { WireFormat } from './wire-format.ts'
import type { LookupFunction } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { messagesWire } from './anthropic/messages-wire.ts'
import { converseWire } from './bedrock/converse-wire.ts'
import type { CallReference, ChatAnswer, ChatCall } from './chat-port.ts'
import type { EmbeddingAnswer, EmbeddingCall, MediaAnswer, MediaCall } from './provider-adapter.ts'
import { embedWire, geminiWire } from './gemini/gemini-wire.ts'
import { type CircuitState, openCircuit, type OpenProvider, type ProviderEvent, tryRoutes } from './try-routes.ts'
import { azureChatWire, chatWire } from './openai-compatible/chat-wire.ts'
import type { NoConnection } from './fair-connections.ts'
import { httpAdapter, type Wires } from './http-adapter.ts'
import { embeddingsWire } from './openai-compatible/embeddings-wire.ts'
import { mediaWire } from './openai-compatible/media-wire.ts'
import { responsesWire } from './openai-responses/responses-wire.ts'
import type { ProviderConfig, ProvidersConfig } from './provider-config.ts'
import type { ProviderFailure } from './provider-failure.ts'
import type { Forwarded } from '@gateway/api/chat-request'

export interface Providers {
  /**
   * Tries the call's routes in order and returns the first response; then retries, in the same order, those that may
   * have recovered. Continues only while nothing of a response has been forwarded, and only after a failure that
   * another provider, or the same one a moment later, may not have. Rejects with the `ProviderFailure` that is most
   * informative to the caller, or with the signal's reason.
   */
  chat(call: ChatCall): Promise<ChatAnswer>
  /**
   * Requests an image or audio from the call's routes in the same way, and passes its bytes to `store`. No caller sees
   * the bytes before they are complete, so another provider can be tried until the end.
   */
  media<Stored>(call: MediaCall<Stored>): Promise<MediaAnswer<Stored>>
  /** Requests vectors from the call's routes in the same way. */
  embed(call: EmbeddingCall): Promise<EmbeddingAnswer>
  /** Connections to each provider in use, and calls that wait for one. */
  connections(): { provider: string; used: number; waiting: number }[]
  /** State of the circuit breaker of each provider. */
  circuits(): { provider: string; state: CircuitState }[]
  /** Waits for running calls, then closes all connections. */
  close(): Promise<void>
}

export interface ProvidersOptions {
  /** Maximum number of connections to a provider whose configuration leaves it out. */
  connections: number
  /** How long a call waits for one of them, likewise. */
  waitMs: number
  /** How long the reader of a response may take nothing of it. */
  unreadMs?: number
  /** Called if a call got no connection to a provider. */
  noConnection?: (facts: { provider: string; why: NoConnection }) => void
  /**
   * Called with every failed attempt, including those followed by a successful one, and with truncated responses. For
   * logs and metrics. Not called for providers skipped because their circuit is open or no connection was free.
   */
  attemptFailed?: (failure: ProviderFailure, reference: CallReference | undefined) => void
  circuitChanged?: (change: { provider: string; state: CircuitState }) => void
  /** Called with what each attempt of a call with a reference came to. For the operator's records. */
  observe?: (event: ProviderEvent) => void
  /** Replaces the system's DNS lookup. Private addresses are refused in any case. */
  resolve?: LookupFunction
  /** From 0 to 1. */
  random?: () => number
  /** Monotonic milliseconds. */
  nowMs?: () => number
  /** Resolves after this many milliseconds; rejects when the signal aborts. */
  wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

const UNREAD_MS = 30_000

/** Opens the configured providers. Connections are opened on demand. */
export function openProviders(config: ProvidersConfig, options: ProvidersOptions): Providers {
  const {
    connections,
    waitMs,
    unreadMs = UNREAD_MS,
    noConnection,
    attemptFailed = () => {},
    circuitChanged,
    observe = () => {},
    resolve,
    random = Math.random,
    nowMs = () => performance.now(),
    wait = (ms, signal) => delay(ms, undefined, signal ? { signal } : {}),
  } = options

  const opened = new Map<string, OpenProvider>()
  for (const [name, provider] of Object.entries(config)) {
    const circuit = openCircuit({
      failures: provider.circuitFailures,
      openMs: provider.circuitOpenMs,
      changed: (state) => circuitChanged?.({ provider: name, state }),
      nowMs,
    })
    opened.set(name, {
      adapter: httpAdapter(name, provider, wiresOf(provider), {
        connections,
        waitMs,
        unreadMs,
        resolve,
        noConnection: (why) => noConnection?.({ provider: name, why }),
      }),
      circuit,
      tries: provider.tries,
    })
  }

  const deps = { opened, attemptFailed, observe, random, nowMs, wait }
  return {
    chat: ({ routes, reference, timing, ...call }) =>
      tryRoutes(deps, { ...call, routes, reference, timing }, (adapter, attempt) =>
        adapter.chat({ ...call, ...attempt }),
      ),
    media: ({ routes, reference, timing, ...call }) =>
      tryRoutes(deps, { ...call, routes, reference, timing }, (adapter, { ended: _, ...attempt }) =>
        adapter.media({ ...call, ...attempt }),
      ),
    embed: ({ routes, reference, timing, ...call }) =>
      tryRoutes(deps, { ...call, routes, reference, timing }, (adapter, { ended: _, ...attempt }) =>
        adapter.embed({ ...call, ...attempt }),
      ),
    connections: () =>
      [...opened].map(([provider, { adapter }]) => ({
        provider,
        used: adapter.connections.used(),
        waiting: adapter.connections.waiting(),
      })),
    circuits: () => [...opened].map(([provider, { circuit }]) => ({ provider, state: circuit.state() })),
    close: async () => void (await Promise.all([...opened.values()].map(({ adapter }) => adapter.close()))),
  }
}

/** The wire formats of a provider. Cache marks reach it only if its format has them, or it is configured for them. */
export function wiresOf(provider: ProviderConfig): Wires {
  const wires = everyWireOf(provider)
  return takesMarks(provider) ? wires : { ...wires, chat: withoutMarks(wires.chat) }
}

function takesMarks(provider: ProviderConfig): boolean {
  if (provider.kind === 'openai-compatible') return provider.cacheControl
  return provider.kind === 'anthropic' || provider.kind === 'bedrock'
}

function withoutMarks(wire: WireFormat): WireFormat {
  const request: WireFormat['request'] = (call) =>
    wire.request({ ...call, forwarded: withoutCacheControl(call.forwarded) })
  return { ...wire, request }
}

function everyWireOf(provider: ProviderConfig): Wires {
  switch (provider.kind) {
    case 'openai-compatible':
      return { chat: chatWire(provider), media: mediaWire(provider), embeddings: embeddingsWire(provider) }
    case 'openai-responses':
      return { chat: responsesWire(provider), media: null, embeddings: embeddingsWire(provider) }
    case 'azure-openai':
      return { chat: azureChatWire(provider), media: mediaWire(provider), embeddings: embeddingsWire(provider) }
    case 'anthropic':
      return { chat: messagesWire(provider), media: null, embeddings: null }
    case 'gemini':
      return { chat: geminiWire(provider), media: null, embeddings: embedWire(provider) }
    case 'bedrock':
      return { chat: converseWire(provider), media: null, embeddings: null }
  }
}

/**
 * Removes the cache marks of messages, parts and tools, for a provider whose format lacks them or that is not configured
 * for them.
 */
export function withoutCacheControl(forwarded: string): string {
  if (!forwarded.includes('"cache_control"')) return forwarded // a match inside a prompt only costs a needless parse
  const asked = JSON.parse(forwarded) as Forwarded
  const tools = asked['tools'] as object[] | undefined
  const messages = asked.messages.map((message) =>
    unmarked(Array.isArray(message.content) ? { ...message, content: message.content.map(unmarked) } : message),
  )
  return JSON.stringify({ ...asked, messages, ...(tools && { tools: tools.map(unmarked) }) })
}

function unmarked(marked: object): object {
  const { cache_control: _, ...kept } = marked as { cache_control?: unknown }
  return kept
}
