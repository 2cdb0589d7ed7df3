import { Pool } from 'undici'
import type { LookupFunction } from 'node:net'
import type { ChatAdapter } from '../chat-adapter.ts'
import type { OriginConfig } from '../origin-config.ts'
import { publicLookup } from '../public-lookup.ts'
import { readCompletion } from './read-completion.ts'
import { readStream } from './read-stream.ts'

const longestConnectMs = 10_000

/** Calls an origin that speaks the chat-completions wire format. One attempt per call; keeps its connections. */
export function openAiCompatibleAdapter(
  name: string,
  config: OriginConfig,
  resolve: LookupFunction | undefined,
): ChatAdapter {
  const { origin: address, pathname } = new URL(config.baseUrl)
  const path = `${pathname.replace(/\/$/, '')}/chat/completions`
  const headers = ['content-type', 'application/json', 'accept-encoding', 'identity', 'user-agent', 'model-gateway']
  if (config.apiKey !== undefined) headers.push('authorization', `Bearer ${config.apiKey}`)
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

  return {
    async chat({ route, forwarded, outputCap, stream, leftMs, signal }) {
      const request = {
        origin: name,
        path,
        headers,
        body: bodyOf(config.capField, route.model, outputCap, stream, forwarded),
        firstByteMs: config.firstByteMs,
        idleMs: config.idleMs,
        totalMs: Math.min(config.totalMs, leftMs),
        signal,
      }
      if (stream) return { kind: 'stream', chunks: await readStream(pool, request), route }
      const startedMs = performance.now()
      const completion = await readCompletion(pool, request)
      return { kind: 'completion', completion, remoteMs: Math.round(performance.now() - startedMs), route }
    },
    close: () => (closing ??= pool.close()),
  }
}

/** Puts our fields in front of the forwarded ones, which stay the text they are. */
function bodyOf(capField: string, model: string, cap: number, stream: boolean, forwarded: string): string {
  const streamed = stream ? '"stream":true,"stream_options":{"include_usage":true},' : ''
  return `{"model":${JSON.stringify(model)},"${capField}":${cap},${streamed}${forwarded.slice(1)}`
}
