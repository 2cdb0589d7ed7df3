import { startHttpServer, type HttpServer } from './http-server.ts'
import { metricsContentType } from './telemetry.ts'

/** Nothing is kept open for long here. */
const DRAIN_MS = 1_000

/**
 * GET /metrics, on a port of its own: what is measured takes no key, so it is only for those who can reach this port, and no
 * caller can (rules §2.1).
 */
export function startMetricsServer(
  metricsText: () => Promise<string>,
  { METRICS_HOST: host, METRICS_PORT: port }: { METRICS_HOST: string; METRICS_PORT: number },
): Promise<HttpServer> {
  return startHttpServer(
    (req, res) => {
      if (req.url !== '/metrics') return void res.writeHead(404).end()
      if (req.method !== 'GET' && req.method !== 'HEAD') return void res.writeHead(405, { Allow: 'GET' }).end()
      metricsText().then(
        (text) => res.setHeader('Content-Type', metricsContentType).end(text),
        () => res.writeHead(500).end(),
      )
    },
    { host, port, drainMs: DRAIN_MS, names: { host: 'METRICS_HOST', port: 'METRICS_PORT' } },
  )
}
