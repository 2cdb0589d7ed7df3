import type { LookupFunction } from 'node:net'
import { Pool } from 'undici'
import type { ChatAdapter } from './chat-adapter.ts'
import type { OriginConfig } from './origin-config.ts'
import { OriginFailure } from './origin-failure.ts'
import { publicLookup } from './public-lookup.ts'
import { readCompletion } from './read-completion.ts'
import { readStream } from './read-stream.ts'
import { CannotSay } from './wire-format.ts'
import type { WireCall, WireFormat } from './wire-format.ts'

const longestConnectMs = 10_000

/** Calls an origin over HTTP in the wire format it speaks. One attempt per call; keeps its connections. */
export function httpAdapter(
  name: string,
  config: OriginConfig,
  wire: WireFormat,
  resolve: LookupFunction | undefined,
): ChatAdapter {
  const { origin: address, pathname } = new URL(config.baseUrl)
  const path = `${pathname.replace(/\/$/, '')}${wire.path}`
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

  function write(call: WireCall): string {
    try {
      return wire.write(call)
    } catch (error) {
      if (!(error instanceof CannotSay)) throw error
      // As if the origin had refused the request as such, which is what it would do; another one may not.
      throw new OriginFailure({ kind: 'refused', origin: name, detail: error.message, originStatus: 400, asked: false })
    }
  }

  return {
    async chat({ route, forwarded, outputCap, stream, leftMs, signal, ended }) {
      const request = {
        origin: name,
        path,
        headers,
        body: write({ model: route.model, forwarded, outputCap, stream }),
        firstByteMs: config.firstByteMs,
        idleMs: config.idleMs,
        totalMs: Math.min(config.totalMs, leftMs),
        signal,
      }
      if (stream) return { kind: 'stream', chunks: await readStream(pool, { ...request, ended }, wire), route }
      const startedMs = performance.now()
      const completion = await readCompletion(pool, request, wire)
      return { kind: 'completion', completion, remoteMs: Math.round(performance.now() - startedMs), route }
    },
    close: () => (closing ??= pool.close()),
  }
}
