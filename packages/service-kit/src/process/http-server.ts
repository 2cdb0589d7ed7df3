import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConfigurationError } from './config.ts'
import { metricsContentType } from './telemetry.ts'

export interface HttpServer {
  server: Server
  url: string
  port: number
  /** Takes no new connection, lets open answers end for `drainMs` at most, then closes what is left. */
  stop(): Promise<void>
}

interface Address {
  host: string
  /** 0 lets the kernel choose. */
  port: number
  drainMs: number
  /** Of the variables that an operator changes. */
  names?: Names
}

interface Names {
  host: string
  port: string
}

/** A caller who says nothing is probed after this, each second, and is gone after ten probes without an answer. */
const PROBE_AFTER_MS = 5_000

/** Starts to listen. A taken port is a `ConfigurationError` that names the variable to change. */
export async function startHttpServer(
  handler: RequestListener,
  { host, port, drainMs, names = { host: 'HOST', port: 'PORT' } }: Address,
): Promise<HttpServer> {
  const server = createServer({ keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS }, handler)
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw listenProblem(error as NodeJS.ErrnoException, { host, port }, names)
  }
  const actual = (server.address() as AddressInfo).port
  const name = host.includes(':') ? `[${host}]` : host
  return { server, url: `http://${name}:${actual}`, port: actual, stop: () => drain(server, drainMs) }
}

async function drain(server: Server, drainMs: number): Promise<void> {
  const closed = once(server, 'close')
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'))
  server.close()
  // A connection that was busy when closing began stays open for the next call of its client: Node closes only idle ones, once.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const late = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearInterval(idle)
  clearTimeout(late)
}

function listenProblem(
  error: NodeJS.ErrnoException,
  { host, port }: Pick<Address, 'host' | 'port'>,
  names: Names,
): Error {
  if (error.code === 'EADDRINUSE') {
    return new ConfigurationError([
      `${names.port}: ${port} on ${host} is taken. Stop what listens there, or set ${names.port} to a free one.`,
    ])
  }
  if (error.code === 'EACCES') {
    return new ConfigurationError([
      `${names.port}: ${port} on ${host} is not permitted to this user. Set ${names.port} to one above 1023.`,
    ])
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new ConfigurationError([
      `${names.host}: ${host} is not an address of this machine. Set ${names.host} to one, or to 0.0.0.0 for all.`,
    ])
  }
  return error
}

/** Nothing is kept open for long here. */
const DRAIN_MS = 1_000

/**
 * GET /metrics, on its own port: what is measured takes no key, so it is only for those who can reach this port, and no
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
