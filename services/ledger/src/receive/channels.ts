import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { CHANNEL_KEY, newChannelKey, SEAL_CHARACTERS, type Seals } from '@gateway/ledger-client/sealed-channel'
import { digestOf, type RequestVerifier } from '@gateway/ledger-client/service-token'
import { channelLimits, type ChannelRow, channels } from '@gateway/ledger-protocol/channels'
import type { ServiceName } from '@gateway/ledger-protocol/ledger-reads'
import { mayNotCall, NOT_SIGNED, signerOf } from './authorize.ts'
import { z } from 'zod'
import { ledgerItem, type LedgerItem, type OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
import type { Deps } from '../deps.ts'
import { withItemSpan } from '../spans.ts'

// The ledger's end of the channels (packages/ledger-client/src/sealed-channel.ts): messages of lines in, messages of
// answers out, each as soon as it is ready, in any order.

export interface Channels {
  /** Opens a channel on a request with `Upgrade`, or refuses it: 401 without a valid token, 403 for another service. */
  accept(req: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes idle channels at once and each other one after its answers, all of them after `drainMs`. */
  stop(drainMs: number): Promise<void>
}

/** What a kind of channel carries. */
export interface ChannelKind {
  row: ChannelRow
  /**
   * Whether a message may arrive now; a channel whose service sends too much is closed.
   * @param open lines whose answers are not sent yet
   * @param more lines of the message
   */
  accepts(open: number, more: number): boolean
  /** Message that asks the service to send no more; null: it needs none. */
  leaving: string | null
  /** Reads a message: what to do for each line, or what is wrong with all of it, as a sentence. Nothing rejects. */
  read(message: string, service: ServiceName): (() => Promise<object>)[] | string
}

interface Channel {
  /** Closes it after its answers, and at once if there are none. */
  finish(): void
  cut(): void
}

const { messageBytes, signOfLifeMs, idleMs } = channelLimits
/** A service closes its channels first, so that nothing is under way when this end does. */
const ABANDONED_MS = 2 * idleMs
/** A service that reads nothing for this long is disconnected. */
const DRAIN_MS = 30_000
const WRITE_CHARACTERS = 1024 * 1024
/** Close codes of RFC 6455. */
const GOING_AWAY = 1001
const NOT_ALLOWED = 1008

export function openChannels(kinds: readonly ChannelKind[], verify: RequestVerifier): Channels {
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
    const kind = kinds.find(({ row }) => row.path === req.url)
    if (kind === undefined) return refuse(socket, 404, 'There is no channel at this path.')
    const { path, callers } = kind.row
    const theirs = req.headers[CHANNEL_KEY]
    const signed = await signerOf(verify, req.headers, path)
    if (signed === null || typeof theirs !== 'string' || digestOf(theirs) !== signed.bodyDigest)
      return refuse(socket, 401, NOT_SIGNED)
    const { service } = signed
    if (!callers.includes(service)) return refuse(socket, 403, mayNotCall(service, path))
    const key = newChannelKey()
    const seals = key.agree(theirs)
    keys.set(req, key.publicKey)
    server.handleUpgrade(req, socket, head, (ws) => {
      const channel = openChannel(ws, seals, kind, service)
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

function openChannel(ws: WebSocket, seals: Seals, kind: ChannelKind, service: ServiceName): Channel {
  const ready: object[] = []
  let open = 0 // lines whose answers are not sent
  let writing = false
  let finishing = false
  let usedMs = performance.now()

  const signsOfLife = setInterval(() => {
    if (open > 0) ws.send('')
    else if (performance.now() - usedMs > ABANDONED_MS) ws.terminate()
  }, signOfLifeMs)
  ws.on('error', () => {}) // `close` follows
  ws.once('close', () => clearInterval(signsOfLife))
  ws.on('message', (data: RawData) => receive(data as Buffer))

  function receive(data: Buffer): void {
    if (ws.readyState !== ws.OPEN) return // messages also arrive while it is being closed
    const message = data.subarray(SEAL_CHARACTERS)
    if (!seals.verifies(data.subarray(0, SEAL_CHARACTERS), message))
      return ws.close(NOT_ALLOWED, 'A message needs the next seal.')
    usedMs = performance.now()
    const lines = kind.read(message.toString(), service)
    if (typeof lines === 'string') return ws.send(JSON.stringify({ error: lines }))
    if (!kind.accepts(open, lines.length)) return ws.close(NOT_ALLOWED, 'A message waits for answers to those before.')
    open += lines.length
    for (const answer of lines) void answer().then(add)
  }

  function add(answer: object): void {
    ready.push(answer)
    if (writing) return
    writing = true
    setImmediate(() => void write().catch(() => ws.terminate()))
  }

  /**
   * Many answers become ready together, so they are sent in few messages. A saved response may have 1 MB and be
   * replayed many times, so answers are serialized only as fast as the service reads.
   */
  async function write(): Promise<void> {
    while (ready.length > 0) {
      let text = ''
      let taken = 0
      while (taken < ready.length && text.length < WRITE_CHARACTERS) text += JSON.stringify(ready[taken++]) + '\n'
      ready.splice(0, taken)
      if (open === taken) ws.send(text)
      else await sent(ws, text)
      open -= taken
    }
    writing = false
    usedMs = performance.now()
    if (finishing && open === 0) ws.close(GOING_AWAY)
  }

  return {
    finish() {
      finishing = true
      if (open === 0) ws.close(GOING_AWAY)
      else if (kind.leaving !== null) ws.send(kind.leaving)
    },
    cut: () => ws.terminate(),
  }
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

const line = z.strictObject({
  n: z.int(),
  budgetMs: z.number().min(1).max(300_000),
  item: ledgerItem,
  trace: z.string().max(128).optional(),
})
type Line = z.infer<typeof line>

/** Decides the item of a line. Never rejects: an item that can't be decided has the outcome `undecided`. */
type DecideItem = (line: Line) => Promise<OutcomeLine['outcome']>

export function openItemDecider({
  admissionBatcher,
  nodeBatcher,
  keyUses,
}: Pick<Deps, 'admissionBatcher' | 'nodeBatcher' | 'keyUses'>): DecideItem {
  return ({ budgetMs, item, trace: traceparent }) =>
    traceparent ? withItemSpan(item, traceparent, () => decide(item, budgetMs)) : decide(item, budgetMs)

  async function decide(item: LedgerItem, budgetMs: number): Promise<OutcomeLine['outcome']> {
    if (item.op === 'claim' || item.op === 'complete') {
      const outcome = await nodeBatcher.submit(item, budgetMs)
      const claimed = outcome.kind === 'completed' ? outcome.next : outcome
      if (claimed?.kind === 'claimed') admissionBatcher.introduceExecution(item.execution, claimed.project)
      return outcome
    }
    const outcome = await admissionBatcher.submit(item, budgetMs)
    if (item.op === 'admit' && outcome.kind === 'admitted') keyUses.note(outcome.key)
    return outcome as OutcomeLine['outcome']
  }
}

/** The channels of items: one exchange at a time, each line an item. */
export function itemsChannels(decide: DecideItem): ChannelKind {
  return {
    row: channels.items,
    accepts: (open) => open === 0,
    leaving: null,
    read(message) {
      const lines = readLines(message)
      return typeof lines === 'string' ? lines : lines.map((item) => () => outcomeOf(item.n, decide(item)))
    },
  }
}

/** A separate function, so that the closure waiting for an outcome does not retain its item, which may be large. */
async function outcomeOf(n: number, deciding: Promise<OutcomeLine['outcome']>): Promise<OutcomeLine> {
  return { n, outcome: await deciding }
}

/** Reads a message: NDJSON, an item per line. Returns what is wrong with it as a sentence. */
function readLines(text: string): Line[] | string {
  const lines: Line[] = []
  for (const row of text.split('\n')) {
    if (row === '') continue
    let value: unknown
    try {
      value = JSON.parse(row)
    } catch {
      return `Line ${lines.length + 1} is not JSON.`
    }
    const read = line.safeParse(value)
    if (!read.success) return `Line ${lines.length + 1}: ${z.prettifyError(read.error)}`
    lines.push(read.data)
  }
  return lines.length > 0 ? lines : 'Send at least one line.'
}
