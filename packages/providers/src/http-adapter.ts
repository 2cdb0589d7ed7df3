import type { LookupFunction } from 'node:net'
import { Pool } from 'undici'
import type { ReadError } from './error-facts.ts'
import type { ExchangeRequest } from './exchange.ts'
import { type MediaWire, readMedia } from './read-media.ts'
import { readCompletion, readStream } from './read-stream.ts'
import type { ProviderAdapter } from './provider-adapter.ts'
import type { ProviderConfig } from './provider-config.ts'
import { ProviderFailure } from './provider-failure.ts'
import { publicLookup } from '@gateway/service-kit/public-network/public-lookup'
import { NotInWireFormat, NotReady } from './wire-format.ts'
import type { WireFormat, WireRequest } from './wire-format.ts'

const longestConnectMs = 10_000

/** Wire formats of a provider. */
export interface Wires {
  chat: WireFormat
  /** null if it makes neither images nor audio. */
  media: MediaWire | null
}

/** Calls a provider over HTTP in its wire formats. One attempt per call; reuses connections. */
export function httpAdapter(
  name: string,
  config: ProviderConfig,
  { chat: wire, media: mediaWire }: Wires,
  resolve: LookupFunction | undefined,
): ProviderAdapter {
  const { origin: address, pathname } = new URL(config.baseUrl)
  const base = pathname.replace(/\/$/, '')
  const common = ['content-type', 'application/json', 'accept-encoding', 'identity', 'user-agent', 'model-gateway']
  const pool = new Pool(address, {
    connections: config.connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: config.firstByteMs,
    bodyTimeout: Math.max(config.firstByteMs, config.idleMs),
    connect: {
      timeout: Math.min(longestConnectMs, config.firstByteMs),
      ...(config.allowPrivateAddress ? (resolve ? { lookup: resolve } : {}) : { lookup: publicLookup(resolve) }),
    },
  })

  let closing: Promise<void> | undefined

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
    { leftMs, signal }: { leftMs: number; signal?: AbortSignal | undefined },
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
      readError,
      signal,
    }
  }

  return {
    async chat({ route, forwarded, outputCap, stream, leftMs, signal, ended }) {
      const call = { model: route.model, forwarded, outputCap, stream }
      const said = written(() => wire.request(call))
      const request = requestOf(
        said instanceof Promise ? await said.catch(refused) : said,
        { leftMs, signal },
        wire.readError,
      )
      if (stream) return { kind: 'stream', chunks: await readStream(pool, { ...request, ended }, wire), route }
      const startedMs = performance.now()
      const completion = await readCompletion(pool, request, wire)
      return { kind: 'completion', completion, remoteMs: Math.round(performance.now() - startedMs), route }
    },
    async media({ route, wish, maxBytes, store, leftMs, signal }) {
      const media = mediaWire ?? refuseWish(wish.kind)
      const said = written(() => media.request(route.model, wish))
      const request = requestOf(said, { leftMs, signal })
      return { kind: 'media', stored: await readMedia(pool, request, media, { wish, maxBytes, store }), route }
    },
    close: () => (closing ??= pool.close()),
  }
}
