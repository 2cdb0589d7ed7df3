import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string
  /** What was sent so far to `/v1/traces` and `/v1/metrics`, as it came: protobuf, in which texts stand as they are. */
  received(path: '/v1/traces' | '/v1/metrics'): Buffer
  stop(): Promise<void>
}

/** Takes what OpenTelemetry sends over OTLP/HTTP, and keeps it. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const kept = new Map<string, Buffer[]>()
  const server = createServer(async (req, res) => {
    const body = Buffer.concat(await req.toArray())
    const bytes = req.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    kept.set(req.url!, [...(kept.get(req.url!) ?? []), Buffer.from(JSON.stringify(req.headers)), bytes])
    res.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: (path) => Buffer.concat(kept.get(path) ?? []),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
