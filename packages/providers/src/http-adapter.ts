import type { LookupFunction } from 'node:net'
import { Pool } from 'undici'
import type { ReadError } from './error-facts.ts'
import type { ExchangeRequest } from './exchange.ts'
import type { EmbeddingWire, ChatAttempt, ProviderAdapter } from './provider-adapter.ts'
import { type MediaWire, readMedia } from './read-media.ts'
import { readCompletion, readEmbeddings, readStream } from './read-stream.ts'
import type { ProviderConfig } from './provider-config.ts'
import { type NoConnection, openFairConnections } from './fair-connections.ts'
import { ProviderFailure } from './provider-failure.ts'
import { publicLookup } from '@gateway/service-kit/public-network/public-lookup'
import { NotInWireFormat, NotReady, type WireFormat, type WireRequest } from './wire-format.ts'

const longestConnectMs = 10_000

/** Wire formats of a provider. */
export interface Wires {
  chat: WireFormat
  /** null if it makes neither images nor audio. */
  media: MediaWire | null
  /** null if it computes no embeddings. */
  embeddings: EmbeddingWire | null
}

type Waiting = Pick<ChatAttempt, 'project' | 'leftMs' | 'signal' | 'disconnected' | 'connected'>

/** A call that has its connection. */
interface Connected {
  leftMs: number
  giveBack: () => void
}

interface Options {
  /** Used if the configuration of the provider leaves it out. */
  connections: number
  /** The same. */
  waitMs: number
  unreadMs: number
  resolve: LookupFunction | undefined
  noConnection: (why: NoConnection) => void
}

/** Calls a provider over HTTP in its wire formats. One attempt per call; reuses connections. */
export function httpAdapter(
  name: string,
  config: ProviderConfig,
  { chat: wire, media: mediaWire, embeddings: embeddingWire }: Wires,
  { unreadMs, resolve, noConnection, ...byDefault }: Options,
): ProviderAdapter {
  const { connections = byDefault.connections, waitMs = byDefault.waitMs } = config
  const { origin: address, pathname } = new URL(config.baseUrl)
  const base = pathname.replace(/\/$/, '')
  const common = ['content-type', 'application/json', 'accept-encoding', 'identity', 'user-agent', 'model-gateway']
  const pool = new Pool(address, {
    connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: config.firstByteMs,
    bodyTimeout: Math.max(config.firstByteMs, config.idleMs),
    connect: {
      timeout: Math.min(longestConnectMs, config.firstByteMs),
      ...(config.allowPrivateAddress ? (resolve ? { lookup: resolve } : {}) : { lookup: publicLookup(resolve) }),
    },
  })

  const shared = openFairConnections({ connections, maxWaiting: config.maxWaiting, refused: busy })

  let closing: Promise<void> | undefined

  function busy(why: NoConnection): ProviderFailure {
    noConnection(why)
    const detail = why === 'full' ? 'too many calls wait for a connection' : 'no connection was free in time'
    return new ProviderFailure({ kind: 'busy', provider: name, detail, asked: false })
  }

  /** Waits for a connection. The time of the call at the provider starts afterwards. */
  async function connect({ project, leftMs, signal, disconnected, connected }: Waiting): Promise<Connected> {
    const startedMs = performance.now()
    const signals = [signal, disconnected].filter((each) => each !== undefined)
    const giveBack = await shared.take(project, Math.min(waitMs, leftMs), signals)
    connected?.()
    return { leftMs: leftMs - (performance.now() - startedMs), giveBack }
  }

  /** Treats an inexpressible call as refused by the provider, as it would be. Another provider may accept it. */
  function refused(error: unknown): never {
    if (error instanceof NotReady)
      throw new ProviderFailure({ kind: 'unreachable', provider: name, detail: error.message, asked: false })
    if (!(error instanceof NotInWireFormat)) throw error
    const { message: detail, unsayable } = error
    throw new ProviderFailure({
      kind: 'refused',
      provider: name,
      detail,
      providerStatus: 400,
      asked: false,
      unsayable,
    })
  }

  function written<Written>(write: () => Written): Written {
    try {
      return write()
    } catch (error) {
      return refused(error)
    }
  }

  function refuseWish(what: string): never {
    const detail = `this wire format has no request for ${what}`
    throw new ProviderFailure({ kind: 'refused', provider: name, detail, providerStatus: 400, asked: false })
  }

  function requestOf(
    { path, headers, body }: WireRequest,
    { leftMs, giveBack }: Connected,
    signal: AbortSignal | undefined,
    readError?: ReadError,
  ): Omit<ExchangeRequest, 'maxBytes'> {
    return {
      provider: name,
      path: base + path,
      headers: [...common, ...headers],
      body,
      firstByteMs: config.firstByteMs,
      idleMs: config.idleMs,
      totalMs: Math.min(config.totalMs, leftMs),
      unreadMs,
      readError,
      signal,
      giveBack,
    }
  }

  return {
    async chat({ route, forwarded, outputCap, stream, ended, ...waiting }) {
      const call = { model: route.model, forwarded, outputCap, stream }
      const said = written(() => wire.request(call))
      const sent = said instanceof Promise ? await said.catch(refused) : said
      const request = requestOf(sent, await connect(waiting), waiting.signal, wire.readError)
      if (stream) return { kind: 'stream', chunks: await readStream(pool, { ...request, ended }, wire), route }
      const startedMs = performance.now()
      const completion = await readCompletion(pool, request, wire)
      return { kind: 'completion', completion, remoteMs: Math.round(performance.now() - startedMs), route }
    },
    async media({ route, wish, maxBytes, store, ...waiting }) {
      const media = mediaWire ?? refuseWish(wish.kind)
      const said = written(() => media.request(route.model, wish))
      const request = requestOf(said, await connect(waiting), waiting.signal)
      const startedMs = performance.now()
      const stored = await readMedia(pool, request, media, { wish, maxBytes, store })
      return { kind: 'media', stored, remoteMs: Math.round(performance.now() - startedMs), route }
    },
    async embed({ route, inputs, dimensions, ...waiting }) {
      const embeddings = embeddingWire ?? refuseWish('embeddings')
      const wish = { inputs, dimensions }
      const said = written(() => embeddings.request(route.model, wish))
      const request = requestOf(said, await connect(waiting), waiting.signal, wire.readError)
      return { kind: 'embeddings', ...(await readEmbeddings(pool, request, embeddings, wish)), route }
    },
    connections: { used: shared.used, waiting: shared.waiting },
    close: () => (closing ??= pool.close()),
  }
}
