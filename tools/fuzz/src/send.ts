import { Agent, request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { FuzzRequest, RawFault } from './draft.ts'

export interface FuzzAnswer {
  /** 0: none came. */
  status: number
  headers: Record<string, string>
  text: string
  /** Until the response was complete, or its head was if it is a stream. */
  ms: number
  /** Why no response came. */
  error: string | null
}

export interface Sender {
  /** Each answer of a request: two if it is sent twice, none if the client leaves before it comes. */
  send(request: FuzzRequest): Promise<FuzzAnswer[]>
  close(): void
}

/** Longer than any response may take; what takes longer is a finding. */
const LIMIT_MS = 20_000
/** How long a connection with broken bytes is read. */
const RAW_MS = 400
/** The embeddings of one call may be 70 MB. */
const MOST_CHARACTERS = 100_000_000

export function openSender(urls: { gateway: string; console: string }): Sender {
  const agent = new Agent({ keepAlive: true })
  const addressOf = ({ direct }: FuzzRequest) => new URL(direct ? urls.console : urls.gateway)

  async function send(one: FuzzRequest): Promise<FuzzAnswer[]> {
    const { transport } = one
    switch (transport.kind) {
      case 'raw':
        return [await sendRaw(addressOf(one), rawBytes(one, transport.fault))]
      case 'twice':
        return Promise.all([sendOnce(one, agent, addressOf(one)), sendOnce(one, agent, addressOf(one))])
      case 'aborted':
        await sendOnce(one, agent, addressOf(one), transport.afterMs)
        return []
      case 'truncated':
        await sendOnce(one, agent, addressOf(one), 20)
        return []
      case 'whole':
      case 'chunked':
        return [await sendOnce(one, agent, addressOf(one))]
    }
  }

  return { send, close: () => agent.destroy() }
}

async function sendOnce(
  one: FuzzRequest,
  agent: Agent,
  { hostname, port }: URL,
  leaveMs?: number,
): Promise<FuzzAnswer> {
  const { method, path, headers, body, transport } = one
  const startedAt = performance.now()
  const sent = request({
    agent,
    hostname,
    port,
    method,
    path,
    headers: [['host', `${hostname}:${port}`], ...headers, ...lengthOf(body, transport.kind)].flat(),
    signal: AbortSignal.timeout(LIMIT_MS),
  })
  sent.on('error', () => {}) // also after the response: the server closes without reading all of the request
  if (leaveMs !== undefined) setTimeout(() => sent.destroy(), leaveMs)
  if (transport.kind === 'truncated') sent.write(body ?? 'x')
  else sent.end(body ?? undefined)
  try {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const isStream = /ndjson|event-stream/.test(answer.headers['content-type'] ?? '')
    const headMs = performance.now() - startedAt
    let text = ''
    answer.setEncoding('latin1') // decoded below: a part may end inside a character
    for await (const part of answer) if (text.length < MOST_CHARACTERS) text += part as string
    return {
      status: answer.statusCode ?? 0,
      headers: Object.fromEntries(Object.entries(answer.headersDistinct).map(([name, all]) => [name, all!.join(', ')])),
      text: Buffer.from(text, 'latin1').toString(),
      ms: isStream ? headMs : performance.now() - startedAt,
      error: null,
    }
  } catch (error) {
    if (sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET' && leaveMs === undefined)
      return sendOnce(one, agent, new URL(`http://${hostname}:${port}`)) // the server had closed the idle connection
    return { status: 0, headers: {}, text: '', ms: performance.now() - startedAt, error: String(error) }
  }
}

function lengthOf(body: Buffer | null, kind: FuzzRequest['transport']['kind']): [string, string][] {
  if (kind === 'truncated') return [['content-length', String((body?.length ?? 0) + 100)]]
  if (body === null) return []
  return kind === 'chunked' ? [['transfer-encoding', 'chunked']] : [['content-length', String(body.length)]]
}

/** Sends bytes and reads one response, or none: the server may close, or wait for more. */
async function sendRaw({ hostname, port }: URL, bytes: Buffer): Promise<FuzzAnswer> {
  const startedAt = performance.now()
  const socket = connect(Number(port), hostname)
  const limit = setTimeout(() => socket.destroy(), RAW_MS)
  let text = ''
  let ms = 0
  socket.on('error', () => {}) // the server may reset a refused connection
  socket.setEncoding('latin1').on('data', (part: string) => {
    ms ||= performance.now() - startedAt
    text += part
  })
  socket.write(bytes)
  await new Promise((resolve) => socket.once('close', resolve))
  clearTimeout(limit)
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const headers = Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.split(':')[0]!.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  ) as Record<string, string>
  // A second response may follow: the rest of the bytes can look like a request.
  const body = rest.join('\r\n\r\n').slice(0, Number(headers['content-length'] ?? Infinity))
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0),
    headers,
    text: Buffer.from(headers['transfer-encoding'] === 'chunked' ? joined(body) : body, 'latin1').toString(),
    ms,
    error: text === '' ? 'closed without a response' : null,
  }
}

/** A body without the framing of its chunks. */
function joined(chunks: string): string {
  const [, size = '0'] = /^([0-9a-f]+)\r\n/.exec(chunks) ?? []
  const [from, length] = [size.length + 2, Number.parseInt(size, 16)]
  return length === 0 ? '' : chunks.slice(from, from + length) + joined(chunks.slice(from + length + 2))
}

/** The bytes of a request whose head or framing is broken. */
function rawBytes({ method, path, headers, body }: FuzzRequest, fault: RawFault): Buffer {
  const length = `content-length: ${body?.length ?? 0}`
  const payload = body ?? Buffer.alloc(0)
  const own = headers.map(([name, value]) => `${name}: ${value}`)
  const head = (first: string, ...more: string[]) => `${[first, 'host: gateway', ...own, ...more].join('\r\n')}\r\n\r\n`
  const first = `${method} ${path} HTTP/1.1`
  const bytes = (text: string, rest: Buffer | string = payload) =>
    Buffer.concat([Buffer.from(text, 'latin1'), typeof rest === 'string' ? Buffer.from(rest, 'latin1') : rest])
  switch (fault) {
    case 'nul in a header':
      return bytes(head(first, 'x-strange: a\0b', length))
    case 'two lengths':
      return bytes(head(first, length, 'content-length: 3'))
    case 'length and chunks':
      return bytes(head(first, length, 'transfer-encoding: chunked'))
    case 'broken chunk':
      return bytes(head(first, 'transfer-encoding: chunked'), 'zz\r\n{}\r\n0\r\n\r\n')
    case 'endless chunk':
      return bytes(head(first, 'transfer-encoding: chunked'), 'ffffffffff\r\n{"a":')
    case 'negative length':
      return bytes(head(first, 'content-length: -1'))
    case 'huge length':
      return bytes(head(first, 'content-length: 99999999999999'))
    case 'no host':
      return bytes(`${[first, ...own, length].join('\r\n')}\r\n\r\n`)
    case 'http/1.0':
      return bytes(head(`${method} ${path} HTTP/1.0`, length))
    case 'unknown version':
      return bytes(head(`${method} ${path} HTTP/9.9`, length))
    case 'absolute address':
      return bytes(head(`${method} http://evil.example${path} HTTP/1.1`, length))
    case 'lowercase method':
      return bytes(head(`${method.toLowerCase()} ${path} HTTP/1.1`, length))
    case 'unknown method':
      return bytes(head(`STRANGE ${path} HTTP/1.1`, length))
    case 'folded header':
      return bytes(head(first, 'x-strange: a\r\n b', length))
    case 'header without colon':
      return bytes(head(first, 'strange', length))
    case 'space in the path':
      return bytes(head(`${method} ${path} a b HTTP/1.1`, length))
    case 'huge head':
      return bytes(head(first, `x-strange: ${'x'.repeat(100_000)}`, length))
    case 'only line feeds':
      return bytes(head(first, length).replaceAll('\r\n', '\n'))
    case 'bare bytes':
      return Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x0d, 0x0a, 0x0d, 0x0a])
    case 'websocket upgrade':
      return bytes(head(first, 'connection: upgrade', 'upgrade: websocket', length))
    case 'http/2 preface':
      return Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  }
}
