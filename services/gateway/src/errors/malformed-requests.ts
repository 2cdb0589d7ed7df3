import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { chatLimits, flowLimits } from '@gateway/api/limits'
import { refuse, type Refusal } from '@gateway/api/refusal'
import type { Deps } from '../deps.ts'

/** How long a request may take to come in. */
export interface ReceiveLimits {
  requestMs: number
  /** Of an asset: 25 MB by a line of half a megabit a second take 400 seconds. */
  uploadMs: number
}

const RECEIVE_LIMITS: ReceiveLimits = { requestMs: 60_000, uploadMs: 600_000 }

/**
 * Makes the HTTP server refuse in our shape what never becomes a request, and closes connections that are kept for
 * nothing.
 */
export function refuseMalformed(
  { newId }: Pick<Deps, 'newId'>,
  server: Server,
  limits: ReceiveLimits = RECEIVE_LIMITS,
): void {
  server.headersTimeout = 30_000
  server.requestTimeout = limits.uploadMs // of every path: others are looked after here
  server.keepAliveTimeout = 75_000 // longer than the load balancers in front keep theirs

  // Node would refuse a missing Host by itself, without a body; nothing here needs one.
  Object.assign(server, { requireHostHeader: false })

  const answers = new WeakMap<Socket, ServerResponse>()
  function end(socket: Socket, refusal: Refusal): void {
    const begun = answers.get(socket) // a request whose body can't be read
    if (!socket.writable || begun?.headersSent) return void socket.destroy()
    const id = begun?.getHeader('X-Request-Id') ?? newId('req')
    socket.end(wholeAnswer(refusal, String(id)))
  }
  server.prependListener('request', (req: IncomingMessage, res: ServerResponse) => {
    const { socket } = req
    answers.set(socket, res)
    res.once('close', () => answers.get(socket) === res && answers.delete(socket))
    if (!hasBody(req) || isUpload(req)) return
    const late = setTimeout(() => {
      if (res.headersSent) socket.destroy()
      else if (!req.complete) end(socket, tooSlow(limits.requestMs))
    }, limits.requestMs)
    late.unref()
    req.once('end', () => clearTimeout(late))
    req.once('close', () => clearTimeout(late))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') socket.destroy()
    else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') end(socket, tooSlow(limits.uploadMs))
    else end(socket, refusalOf(error.code ?? ''))
  })
  // A caller that asks before it sends a body that is too large need not send it.
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    if (Number(req.headers['content-length']) > bodyLimitOf(req)) res.setHeader('Connection', 'close')
    else res.writeContinue()
    server.emit('request', req, res)
  })
}

/** The raw body that a path takes at most, known before any route is (rules §2.6). Bytes. */
export function bodyLimitOf({ url = '' }: Pick<IncomingMessage, 'url'>): number {
  if (isUpload({ url })) return flowLimits.assetBytes
  if (url.startsWith('/v1/sandbox/') || url.startsWith('/api/v2/')) return flowLimits.bodyBytes
  return url.startsWith('/v1/chat/') ? chatLimits.bodyBytes : chatLimits.textBodyBytes
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function isUpload({ url = '' }: Pick<IncomingMessage, 'url'>): boolean {
  return url.startsWith('/v1/assets')
}

function refusalOf(code: string): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW')
    return malformed('The headers are larger than 16 KiB.', 'Send fewer or shorter headers.')
  return malformed('This is not a valid HTTP request.', 'Send a request as HTTP/1.1 describes it.')
}

function tooSlow(ms: number): Refusal {
  return malformed('The request was not received in time.', `Send the whole request within ${ms / 1000} seconds.`)
}

function malformed(reason: string, resolution: string): Refusal {
  return refuse('invalid_request', { reason, resolution })
}

/** Written to the socket unchanged: where no request was understood there is no response object. */
function wholeAnswer({ status, body, headers }: Refusal, requestId: string): string {
  const json = JSON.stringify({ error: body })
  const all = {
    ...headers,
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(json)),
    Connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${json}`
}
