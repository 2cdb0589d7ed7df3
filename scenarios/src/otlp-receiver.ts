import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { readSpans, type SeenSpan } from './seen-spans.ts'

export interface OtlpReceiver {
  /** Value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string
  /** Raw bytes received so far on a path, with request headers. Both protobuf and JSON keep text readable. */
  received(path: '/v1/traces' | '/v1/metrics'): Buffer
  /** Resolves with all spans from JSON exports once `enough` accepts them. */
  until(enough: (spans: readonly SeenSpan[]) => boolean): Promise<readonly SeenSpan[]>
  stop(): Promise<void>
}

/** Environment that makes a service export its spans to the receiver as JSON as soon as they end. */
export function sendsSpansTo({ url }: Pick<OtlpReceiver, 'url'>): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '10',
  }
}

/** Starts a collector that keeps everything sent over OTLP/HTTP. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const kept = new Map<string, Buffer[]>()
  const spans: SeenSpan[] = []
  const server = createServer(async (req, res) => {
    const body = Buffer.concat(await req.toArray())
    const bytes = req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    kept.set(req.url!, [...(kept.get(req.url!) ?? []), Buffer.from(JSON.stringify(req.headers)), bytes])
    const isJson = req.headers['content-type'] === 'application/json'
    if (isJson && req.url === '/v1/traces') {
      spans.push(...readSpans(bytes.toString()))
      server.emit('spans')
    }
    res.writeHead(200, { 'content-type': isJson ? 'application/json' : 'application/x-protobuf' })
    res.end(isJson ? '{}' : '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: (path) => Buffer.concat(kept.get(path) ?? []),
    async until(enough) {
      while (!enough(spans)) await once(server, 'spans')
      return spans
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
