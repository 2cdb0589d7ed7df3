import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { CHANNEL_KEY, newChannelKey, SEAL_CHARACTERS, type Seals } from '@gateway/ledger-client/channel-key'
import { digestOf, type RequestVerifier } from '@gateway/ledger-client/service-token'
import { itemsChannel, type OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import { mayNotCall, NOT_SIGNED, signerOf } from './authorize.ts'
import { type DecideItem, readLines } from './decide-items.ts'

// The ledger's end of the channels of items (packages/ledger-client/src/items-channels.ts): a message with items in,
// messages with outcomes out, each as soon as it is decided, in any order.

export interface ItemsChannels {
  /** Opens a channel on a request with `Upgrade`, or refuses it: 401 without a valid token, 403 for another service. */
  accept(req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes idle channels at once and each other one after its exchange, all of them after `drainMs`. */
  stop(drainMs: number): Promise<void>
}

interface Channel {
  /** Closes it after its exchange, and at once if there is none. */
  finish(): void
  cut(): void
}

const { path, callers, messageBytes, quietMs, idleMs } = itemsChannel
/** A service closes its channels first, so that no items are under way when this end does. */
const ABANDONED_MS = 2 * idleMs
/** A service that reads nothing for this long is disconnected. */
const DRAIN_MS = 30_000
const WRITE_CHARACTERS = 1024 * 1024
/** Close codes of RFC 6455. */
const GOING_AWAY = 1001
const NOT_ALLOWED = 1008

export function openItemsChannels(decide: DecideItem, verify: RequestVerifier): ItemsChannels {
  const open = new Set<Channel>()
  const keys = new WeakMap<IncomingMessage, string>()
  let onEmpty: (() => void) | null = null
  let stopping = false
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    clientTracking: false,
    skipUTF8Validation: true,
    maxPayload: messageBytes,
  })
  server.on('headers', (headers, req) => headers.push(`${CHANNEL_KEY}: ${keys.get(req)}`))

  async function accept(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (stopping) return refuse(socket, 503, 'The ledger is stopping.')
    if (req.url !== path) return refuse(socket, 404, 'There is no channel at this path.')
    const theirs = req.headers[CHANNEL_KEY]
    const signed = await signerOf(verify, req.headers, path)
    if (signed === null || typeof theirs !== 'string' || digestOf(theirs) !== signed.bodyDigest)
      return refuse(socket, 401, NOT_SIGNED)
    if (!(callers as readonly ServiceName[]).includes(signed.service))
      return refuse(socket, 403, mayNotCall(signed.service, path))
    const key = newChannelKey()
    const seals = key.agree(theirs)
    keys.set(req, key.publicKey)
    server.handleUpgrade(req, socket, head, (ws) => {
      const channel = openChannel(ws, seals, decide)
      open.add(channel)
      ws.once('close', () => {
        open.delete(channel)
        if (open.size === 0) onEmpty?.()
      })
      if (stopping) channel.finish()
    })
  }

  return {
    accept(req, socket, head) {
      socket.on('error', () => socket.destroy()) // Node has removed its own listener
      accept(req, socket, head).catch(() => socket.destroy())
    },
    async stop(drainMs) {
      stopping = true
      if (open.size === 0) return
      const empty = new Promise<void>((resolve) => (onEmpty = resolve))
      const late = setTimeout(() => open.forEach((channel) => channel.cut()), drainMs)
      for (const channel of open) channel.finish()
      await empty
      clearTimeout(late)
    },
  }
}

function openChannel(ws: WebSocket, seals: Seals, decide: DecideItem): Channel {
  const ready: OutcomeLine[] = []
  let undecided = 0
  let writing = false
  let finishing = false
  let usedMs = performance.now()

  const quiet = setInterval(() => {
    if (undecided > 0) ws.send('')
    else if (performance.now() - usedMs > ABANDONED_MS) ws.terminate()
  }, quietMs)
  ws.on('error', () => {}) // `close` follows
  ws.once('close', () => clearInterval(quiet))
  ws.on('message', (data: RawData) => receive(data as Buffer))

  function receive(data: Buffer): void {
    const message = data.subarray(SEAL_CHARACTERS)
    if (undecided > 0 || writing || !seals.verifies(data.subarray(0, SEAL_CHARACTERS), message))
      return ws.close(NOT_ALLOWED, 'A message needs the next seal, and waits for the end of the one before.')
    usedMs = performance.now()
    const lines = readLines(message.toString())
    if (typeof lines === 'string') return ws.send(JSON.stringify({ error: lines }))
    undecided = lines.length
    for (const line of lines) answerWith(add, line.n, decide(line))
  }

  function add(line: OutcomeLine): void {
    undecided--
    ready.push(line)
    if (writing) return
    writing = true
    setImmediate(() => void write().catch(() => ws.terminate()))
  }

  /**
   * A batch decides many items together, so their lines are sent in few messages. A saved response may have 1 MB and be
   * replayed many times, so lines are serialized only as fast as the service reads.
   */
  async function write(): Promise<void> {
    while (ready.length > 0) {
      let text = ''
      let taken = 0
      while (taken < ready.length && text.length < WRITE_CHARACTERS) text += JSON.stringify(ready[taken++]) + '\n'
      ready.splice(0, taken)
      if (undecided === 0 && ready.length === 0) ws.send(text)
      else await sent(ws, text)
    }
    writing = false
    usedMs = performance.now()
    if (finishing && undecided === 0) ws.close(GOING_AWAY)
  }

  return {
    finish() {
      finishing = true
      if (undecided === 0 && !writing) ws.close(GOING_AWAY)
    },
    cut: () => ws.terminate(),
  }
}

/** A separate function, so that the closure waiting for an outcome does not retain its item, which may be large. */
function answerWith(add: (line: OutcomeLine) => void, n: number, deciding: Promise<OutcomeLine['outcome']>): void {
  void deciding.then((outcome) => add({ n, outcome }))
}

/** Resolves when the message has left this process. */
function sent(ws: WebSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => ws.terminate(), DRAIN_MS)
    ws.send(text, (error) => {
      clearTimeout(late)
      if (error) reject(error)
      else resolve()
    })
  })
}

function refuse(socket: Duplex, status: number, error: string): void {
  const body = JSON.stringify({ error })
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`)
}
