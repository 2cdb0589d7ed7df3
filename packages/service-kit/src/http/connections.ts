import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Socket, isIPv6 } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { refuse, type Refusal } from '@gateway/api/refusal'
import express, { type Request, type Express } from 'express'
import { onceArrived } from './read-body.ts'
import { commaSeparated } from '../process/config.ts'

// The connections of a server, until their requests are parsed and their callers are known.
//   C1  Bytes that never become a request are refused in our error format. The socket is destroyed soon after, whether
//       or not its peer has read the refusal.
//   C2  A request that takes too long to arrive is refused the same way, and so is an upload below the minimum rate: it
//       would keep its room in the temporary folder.
//   C3  A connection without an authenticated caller counts towards its address (an IPv6 /64 is one). If an address, or
//       all together, exceed their limit, the oldest is destroyed: a newcomer always gets in, and authenticates at once.
//   C4  A trusted proxy carries the requests of many callers, so its connections do not count.

export interface ConnectionSettings {
  newRequestId?: () => string
  /** Maximum body size of a request in bytes, known before routing (rules §2.6). */
  bodyLimitOf?: (req: Pick<IncomingMessage, 'url'>) => number
  /** Longest time for the body of a request to arrive. Milliseconds. */
  receiveMsOf?: (req: Pick<IncomingMessage, 'url'>) => number
  uploadRate?: MinimumRate
  /** Whether a peer's X-Forwarded-For is trusted. Default: every peer is one of ours. */
  isTrustedProxy?: (address: string) => boolean
  /** Limit on all connections; at most half of them may be unauthenticated. */
  maxConnections?: number
  /** Limit on unauthenticated connections per address. */
  maxUnauthenticated?: number
  /** A connection is ended before its request was read. */
  onEnd?: (reason: EndReason) => void
}

/**
 * Why a connection is ended:
 * - `unauthenticated`: the oldest one without an authenticated caller, for a new one (C3)
 * - `slow`: its request did not arrive in time (C2)
 * - `malformed`: what it sent is not HTTP (C1)
 * - `full`: the server has as many connections as it may have
 */
export type EndReason = 'unauthenticated' | 'slow' | 'malformed' | 'full'

const HEADERS_MS = 15_000
/** Longest time for the body of a request to arrive. */
const RECEIVE_MS = 60_000
/** The same for an asset: 25 MB at half a megabit per second take 400 seconds. */
const UPLOAD_MS = 600_000
/** Longer than the keep-alive of load balancers in front. */
const KEEP_ALIVE_MS = 75_000
/** Time for a peer to read why it was refused. */
const LINGER_MS = 2_000
const MAX_CONNECTIONS = 16_384
const MAX_UNAUTHENTICATED = 1_024

/** Whether the path accepts an asset: of the gateway, or of the console's API. */
export function isUpload({ url = '' }: Pick<IncomingMessage, 'url'>): boolean {
  return /\/assets(\?|$)/.test(url)
}

/** The default of `receiveMsOf`. */
export function usualReceiveMs(req: Pick<IncomingMessage, 'url'>): number {
  return isUpload(req) ? UPLOAD_MS : RECEIVE_MS
}

/** Applies the same settings to every server that other processes reach. */
export function guardConnections(server: Server, settings: ConnectionSettings = {}): void {
  const {
    receiveMsOf = usualReceiveMs,
    bodyLimitOf = () => Infinity,
    newRequestId,
    uploadRate = minimumRate,
    onEnd = () => {},
  } = settings
  server.headersTimeout = HEADERS_MS
  server.requestTimeout = 0 // enforced here, by path
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.maxConnections = settings.maxConnections ?? MAX_CONNECTIONS
  // Node would refuse a missing Host by itself, without a body; nothing here needs one.
  Object.assign(server, { requireHostHeader: false })
  boundUnauthenticated(server, settings)
  server.on('drop', () => onEnd('full'))

  const answers = new WeakMap<Socket, ServerResponse>()
  function end(socket: Socket, refusal: Refusal): void {
    const begun = answers.get(socket) // a request whose body can't be read
    if (!socket.writable || begun?.headersSent) return void socket.destroy()
    const id = begun?.getHeader('X-Request-Id') ?? newRequestId?.()
    socket.end(wholeAnswer(refusal, id === undefined ? null : String(id)))
    setTimeout(() => socket.destroy(), LINGER_MS).unref() // C1
  }
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    const { socket } = req
    answers.set(socket, res)
    res.once('close', () => answers.get(socket) === res && answers.delete(socket))
    if (!hasBody(req)) return
    function giveUp(refusal: Refusal): void {
      if (req.complete) return
      onEnd('slow')
      if (res.headersSent) socket.destroy()
      else end(socket, refusal) // C2
    }
    const receiveMs = receiveMsOf(req)
    const late = setTimeout(() => giveUp(tooLate(receiveMs)), receiveMs)
    late.unref()
    const received = () => socket.bytesRead
    const stopWatching = isUpload(req) ? watchRate(received, () => giveUp(tooSlow(uploadRate)), uploadRate) : () => {}
    onceArrived(req, () => {
      clearTimeout(late)
      stopWatching()
    })
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') return void socket.destroy()
    const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    onEnd(isSlow ? 'slow' : 'malformed')
    end(socket, isSlow ? tooLate(HEADERS_MS) : refusalOf(error.code ?? ''))
  })
  // With `Expect: 100-continue`, a caller learns of a refusal before it sends a body that is too large.
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    if (Number(req.headers['content-length']) > bodyLimitOf(req)) res.setHeader('Connection', 'close')
    else res.writeContinue()
    server.emit('request', req, res)
  })
  // Node would answer any other expectation with 417 and no body. It is ignored, like any unknown header.
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => server.emit('request', req, res))
}

const authenticated = new WeakMap<Socket, () => void>()

/** Marks the caller of this connection as known: it no longer counts as unauthenticated (C3). */
export function markAuthenticated(socket: Socket): void {
  authenticated.get(socket)?.()
}

/** Returns the address of a request's caller, behind the proxies that the operator trusts (`TRUSTED_PROXIES`). */
export function callerAddress(req: IncomingMessage): string {
  return (req as Request).ip ?? req.socket.remoteAddress ?? ''
}

/** Returns the address to which limits per address count a request: an IPv6 /64 is one. */
export function countedAddress(req: IncomingMessage): string {
  return addressBlock(callerAddress(req))
}

function boundUnauthenticated(
  server: Server,
  {
    isTrustedProxy = () => true,
    maxConnections = MAX_CONNECTIONS,
    maxUnauthenticated = MAX_UNAUTHENTICATED,
    onEnd = () => {},
  }: ConnectionSettings,
): void {
  const all = new Set<Socket>() // oldest first
  const byAddress = new Map<string, Set<Socket>>()
  // Behind TLS, the socket of a request is the one that its handshake ends with.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (isTrustedProxy(address)) return // C4
    const block = addressBlock(address)
    const ofAddress = byAddress.get(block) ?? new Set()
    byAddress.set(block, ofAddress.add(socket))
    all.add(socket)
    const forget = () => {
      all.delete(socket)
      if (ofAddress.delete(socket) && ofAddress.size === 0) byAddress.delete(block)
    }
    socket.once('close', forget)
    authenticated.set(socket, forget)
    const full = ofAddress.size > maxUnauthenticated ? ofAddress : all.size > maxConnections / 2 ? all : null
    if (full === null) return
    onEnd('unauthenticated')
    destroyOldest(full)
  })
}

function destroyOldest(sockets: ReadonlySet<Socket>): void {
  for (const oldest of sockets) return void oldest.destroy()
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function refusalOf(code: string): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW')
    return malformed('The headers are larger than 16 KiB.', 'Send fewer or shorter headers.')
  return malformed('This is not a valid HTTP request.', 'Send a request as HTTP/1.1 describes it.')
}

function tooSlow({ bytesPerSecond, windowMs }: MinimumRate): Refusal {
  return malformed(
    `Less than ${bytesPerSecond / 1024} KB per second arrived in ${windowMs / 1_000} seconds.`,
    `Send an upload at ${bytesPerSecond / 1024} KB per second or faster.`,
  )
}

function tooLate(ms: number): Refusal {
  return malformed('The request was not received in time.', `Send the whole request within ${ms / 1000} seconds.`)
}

function malformed(reason: string, resolution: string): Refusal {
  return refuse('invalid_request', { reason, resolution })
}

/** Written directly to the socket: without a parsed request there is no response object. */
function wholeAnswer({ status, body, headers }: Refusal, requestId: string | null): string {
  const json = JSON.stringify({ error: body })
  const all = {
    ...headers,
    ...(requestId !== null && { 'X-Request-Id': requestId }),
    'X-Content-Type-Options': 'nosniff',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(json)),
    Connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${json}`
}

/**
 * Returns the address block of one subscriber. For IPv6 that is a /64, otherwise 2^64 separate callers to a throttle.
 */
export function addressBlock(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped) return mapped
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return address
  const [head = '', tail] = plain.split('::')
  const before = head.split(':').filter((part) => part !== '')
  const after = (tail ?? '').split(':').filter((part) => part !== '')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const parts = [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after]
  const network = parts.slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16))
  return `${network.join(':')}::/64`
}

/** The least that a transfer has to pass in each window, so that a stalled one doesn't keep its place. */
export interface MinimumRate {
  bytesPerSecond: number
  windowMs: number
}

export const minimumRate: MinimumRate = { bytesPerSecond: 10 * 1024, windowMs: 30_000 }

/**
 * Calls `tooSlow` once, if fewer bytes than the minimum passed in a window. Windows follow each other, so that bytes
 * sent in a burst don't pay for a later stall.
 * @param passed number of bytes so far
 * @returns the function that stops watching
 */
export function watchRate(
  passed: () => number,
  tooSlow: () => void,
  { bytesPerSecond, windowMs }: MinimumRate = minimumRate,
): () => void {
  const least = (bytesPerSecond * windowMs) / 1_000
  let before = passed()
  const timer = setInterval(() => {
    const now = passed()
    if (now - before < least) {
      clearInterval(timer)
      tooSlow()
    }
    before = now
  }, windowMs)
  timer.unref()
  return () => clearInterval(timer)
}

/**
 * The `TRUSTED_PROXIES` variable: comma-separated addresses and ranges whose X-Forwarded-For is trusted. `loopback`,
 * `linklocal` and `uniquelocal` name the private ranges.
 */
export function trustedProxies() {
  return commaSeparated()
    .refine(areAddresses, {
      error:
        'expected addresses or ranges separated by commas, such as 10.0.0.0/8, or loopback, linklocal, uniquelocal',
    })
    .meta({
      description:
        'Comma-separated addresses and ranges of the proxies in front, such as 10.0.0.0/8. Only their X-Forwarded-For is trusted. Without it, none is',
    })
}

/** Makes `req.ip` the address of the caller behind these proxies. */
export function trustProxies(app: Express, proxies: readonly string[]): void {
  app.set('trust proxy', [...proxies])
}

/** Whether a peer is one of the proxies that the application trusts. */
export function isTrustedBy(app: Express): (address: string) => boolean {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean
  return (address) => isTrusted(address, 0)
}

function areAddresses(names: string[]): boolean {
  try {
    trustProxies(express(), names)
    return true
  } catch {
    return false
  }
}
