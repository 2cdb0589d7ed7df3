import type { LookupFunction } from 'node:net'
import { Pool } from 'undici'
import type { ExchangeRequest } from './exchange.ts'
import type { MediaWire } from './media-wire.ts'
import type { ProviderAdapter } from './provider-adapter.ts'
import type { ProviderConfig } from './provider-config.ts'
import { ProviderFailure } from './provider-failure.ts'
import { publicLookup } from './public-lookup.ts'
import { readCompletion } from './read-completion.ts'
import { readMedia } from './read-media.ts'
import { readStream } from './read-stream.ts'
import { NotInWireFormat } from './wire-format.ts'
import type { WireFormat } from './wire-format.ts'

const longestConnectMs = 10_000

/** The wire formats that a provider speaks. */
export interface Wires {
  chat: WireFormat
  /** null: it makes neither images nor sounds. */
  media: MediaWire | null
}

/** Calls a provider over HTTP in the wire formats it speaks. One attempt per call; keeps its connections. */
export function httpAdapter(
  name: string,
  config: ProviderConfig,
  { chat: wire, media: mediaWire }: Wires,
  resolve: LookupFunction | undefined,
): ProviderAdapter {
  const { origin: address, pathname } = new URL(config.baseUrl)
  const base = pathname.replace(/\/$/, '')
  const headers = ['content-type', 'application/json', 'accept-encoding', 'identity', 'user-agent', 'model-gateway']
  headers.push(...wire.headers)
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

  function written(write: () => string): string {
    try {
      return write()
    } catch (error) {
      if (!(error instanceof NotInWireFormat)) throw error
      throw refused(error.message)
    }
  }

  /** As if the provider had refused the request as such, which is what it would do; another one may not. */
  function refused(detail: string): ProviderFailure {
    return new ProviderFailure({ kind: 'refused', provider: name, detail, providerStatus: 400, asked: false })
  }

  function refuseWish(what: string): never {
    throw refused(`this wire format has no request for ${what}`)
  }

  function requestOf({
    path,
    body,
    leftMs,
    signal,
  }: Pick<ExchangeRequest, 'path' | 'body' | 'signal'> & { leftMs: number }): Omit<ExchangeRequest, 'maxBytes'> {
    return {
      provider: name,
      path: base + path,
      headers,
      body,
      firstByteMs: config.firstByteMs,
      idleMs: config.idleMs,
      totalMs: Math.min(config.totalMs, leftMs),
      signal,
    }
  }

  return {
    async chat({ route, forwarded, outputCap, stream, leftMs, signal, ended }) {
      const body = written(() => wire.write({ model: route.model, forwarded, outputCap, stream }))
      const request = requestOf({ path: wire.path, body, leftMs, signal })
      if (stream) return { kind: 'stream', chunks: await readStream(pool, { ...request, ended }, wire), route }
      const startedMs = performance.now()
      const completion = await readCompletion(pool, request, wire)
      return { kind: 'completion', completion, remoteMs: Math.round(performance.now() - startedMs), route }
    },
    async media({ route, wish, maxBytes, store, leftMs, signal }) {
      const wire = mediaWire ?? refuseWish(wish.kind)
      const body = written(() => wire.write(route.model, wish))
      const request = requestOf({ path: wire.path(wish), body, leftMs, signal })
      return { kind: 'media', stored: await readMedia(pool, request, wire, { wish, maxBytes, store }), route }
    },
    close: () => (closing ??= pool.close()),
  }
}
