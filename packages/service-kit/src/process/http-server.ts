import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type ConnectionSettings, guardConnections } from '../http/connections.ts'
import { ConfigurationError } from './config.ts'
import { metricsContentType } from './telemetry.ts'

export interface HttpServer {
  server: Server
  url: string
  port: number
  /** Accepts no new connections, lets open responses finish for at most `drainMs`, then closes the rest. */
  stop(): Promise<void>
}

interface Address {
  host: string
  /** 0 lets the kernel choose. */
  port: number
  drainMs: number
  /** Names of the variables, for error messages to the operator. */
  names?: Names
  connections?: ConnectionSettings | undefined
  /** PEM; without it, the server speaks http. */
  tls?: TlsFiles | undefined
}

export interface TlsFiles {
  certificate: string | undefined
  privateKey: string | undefined
}

interface Names {
  host: string
  port: string
}

/** A silent caller is probed after this time, then every second, and is lost after ten unanswered probes. */
const PROBE_AFTER_MS = 5_000
const HANDSHAKE_MS = 10_000
const SERVER_OPTIONS = {
  keepAlive: true,
  keepAliveInitialDelay: PROBE_AFTER_MS,
  connectionsCheckingInterval: 5_000, // for headers that never arrive
}

/** Starts listening. A port in use is a `ConfigurationError` that names the variable to change. */
export async function startHttpServer(
  handler: RequestListener,
  { host, port, drainMs, names = { host: 'HOST', port: 'PORT' }, connections, tls }: Address,
): Promise<HttpServer> {
  const secured = tls?.certificate !== undefined || tls?.privateKey !== undefined
  const server = secured ? openTlsServer(tls, handler) : createServer(SERVER_OPTIONS, handler)
  guardConnections(server, connections)
  server.listen({ host, port })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw listenProblem(error as NodeJS.ErrnoException, { host, port }, names)
  }
  const actual = (server.address() as AddressInfo).port
  const name = host.includes(':') ? `[${host}]` : host
  return {
    server,
    url: `${secured ? 'https' : 'http'}://${name}:${actual}`,
    port: actual,
    stop: () => drain(server, drainMs),
  }
}

function openTlsServer({ certificate: cert, privateKey: key }: TlsFiles, handler: RequestListener): Server {
  if (cert === undefined || key === undefined)
    throw new ConfigurationError([
      `${cert ? 'TLS_PRIVATE_KEY' : 'TLS_CERTIFICATE'} is missing: the other one needs it.`,
    ])
  try {
    return createTlsServer({ ...SERVER_OPTIONS, cert, key, handshakeTimeout: HANDSHAKE_MS }, handler)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new ConfigurationError([`TLS_CERTIFICATE and TLS_PRIVATE_KEY can't be used together: ${code}.`])
  }
}

async function drain(server: Server, drainMs: number): Promise<void> {
  const closed = once(server, 'close')
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'))
  server.close()
  // A connection that was busy when closing started would stay open: Node closes idle ones only once.
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

/** Short, because no response here takes long. */
const DRAIN_MS = 1_000

/**
 * GET /metrics on a separate port: metrics require no key, so they are only for those who can reach this port, and no
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
