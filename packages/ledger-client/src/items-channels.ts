import type { IncomingMessage } from 'node:http'
import { type RawData, WebSocket } from 'ws'
import { itemsChannel, type OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
import { isFinalStatus, LedgerRejected } from './call-operation.ts'
import { CHANNEL_KEY, newChannelKey, type Seals } from './channel-key.ts'
import type { RequestSigner } from './service-token.ts'

// Channels of items: WebSockets to the ledger that stay open. A channel carries one exchange at a time, a message with
// items and messages with their outcomes, and is kept for the next one. Its opening is signed (service-token.ts), and each
// message sealed (channel-key.ts).

export interface ItemsRequest {
  /** NDJSON, one `ItemLine` per line. */
  lines: string
  /** Number of lines. */
  count: number
  /** Time after which the whole exchange is cut off. */
  limitMs: number
}

/** How an exchange ended. Items without an outcome by then get none. */
export type ExchangeEnd =
  | { kind: 'complete' }
  /** The connection failed, was cut, silent or too slow, or the status may be temporary. */
  | { kind: 'cut' }
  | { kind: 'unauthorized' }
  | { kind: 'rejected'; error: LedgerRejected }

export interface ItemsReceiver {
  outcome(line: OutcomeLine): void
  /** Called once, as the last call. */
  end(end: ExchangeEnd): void
}

export interface ItemsChannels {
  /**
   * Sends items; outcomes are delivered as they arrive. Returns a function that cancels the exchange: its channel is closed
   * and the receiver is no longer called.
   */
  exchange(request: ItemsRequest, receiver: ItemsReceiver): () => void
  close(): void
}

interface Options {
  /** The ledger's base address. */
  url: string
  signer: RequestSigner
  connectMs: number
  /** A connection without traffic is probed after this time. */
  probeAfterMs: number
}

interface Channel {
  start(request: ItemsRequest, receiver: ItemsReceiver): () => void
  close(): void
}

interface Exchange extends ItemsRequest {
  receiver: ItemsReceiver
  limit: NodeJS.Timeout
}

/** A channel without a sign of the ledger for this long is closed, and its items are resent on another one. */
const SILENT_MS = 3 * itemsChannel.quietMs
const MAX_ERROR_BYTES = 4_096

export function openItemsChannels({ url, signer, connectMs, probeAfterMs }: Options): ItemsChannels {
  const { path, messageBytes, idleMs } = itemsChannel
  const address = `${url.replace(/^http/, 'ws').replace(/\/+$/, '')}${path}`
  const socketOptions: object = { keepAlive: true, keepAliveInitialDelay: probeAfterMs } // of net.connect
  const idle: Channel[] = []
  const all = new Set<Channel>()

  function open(): Channel {
    const key = newChannelKey()
    const socket = new WebSocket(address, {
      headers: { authorization: `Bearer ${signer.sign(path, key.publicKey)}`, [CHANNEL_KEY]: key.publicKey },
      perMessageDeflate: false,
      skipUTF8Validation: true,
      maxPayload: messageBytes,
      handshakeTimeout: connectMs,
      ...socketOptions,
    })
    let seals: Seals | null = null // once it is open
    let current: Exchange | null = null
    const silence = setTimeout(() => end({ kind: 'cut' }), SILENT_MS)
    const unused = setTimeout(() => current === null && close(), idleMs).unref()

    function start(request: ItemsRequest, receiver: ItemsReceiver): () => void {
      const limit = setTimeout(() => end({ kind: 'cut' }), request.limitMs)
      const exchange = { ...request, receiver, limit }
      current = exchange
      silence.refresh()
      if (seals !== null) send(seals, exchange)
      return () => {
        if (current !== exchange) return
        stop()
        close()
      }
    }

    function send(sealing: Seals, { lines }: Exchange): void {
      socket.send(sealing.next(lines) + lines)
    }

    function stop(): Exchange | null {
      const stopped = current
      if (stopped !== null) clearTimeout(stopped.limit)
      current = null
      return stopped
    }

    function end(how: ExchangeEnd): void {
      const ended = stop()
      if (ended === null) return
      if (how.kind === 'complete') {
        idle.push(channel)
        unused.refresh()
      } else {
        close()
      }
      ended.receiver.end(how)
    }

    function close(): void {
      forget()
      socket.terminate()
    }

    function forget(): void {
      clearTimeout(silence)
      clearTimeout(unused)
      all.delete(channel)
      const at = idle.indexOf(channel)
      if (at >= 0) idle.splice(at, 1)
    }

    function receive(data: Buffer): void {
      silence.refresh()
      const exchange = current
      try {
        for (const line of data.toString().split('\n')) {
          if (line === '' || exchange === null || current !== exchange) continue // a sign of life, or no one waits
          const read = JSON.parse(line) as OutcomeLine | { error: string }
          if ('error' in read) return end({ kind: 'rejected', error: new LedgerRejected(path, 400, read.error) })
          exchange.count--
          exchange.receiver.outcome(read)
        }
      } catch {
        return end({ kind: 'cut' }) // not a line from the ledger
      }
      if (exchange !== null && current === exchange && exchange.count === 0) end({ kind: 'complete' })
    }

    const channel: Channel = { start, close }
    all.add(channel)
    socket.on('upgrade', ({ headers }: IncomingMessage) => {
      try {
        seals = key.agree(String(headers[CHANNEL_KEY]))
      } catch {
        end({ kind: 'cut' }) // not the ledger
      }
    })
    socket.on('open', () => seals !== null && current !== null && send(seals, current))
    socket.on('message', (data: RawData) => receive(data as Buffer))
    socket.on('unexpected-response', (_request, response) => void refusalOf(response, path).then(end))
    socket.on('error', () => {}) // `close` follows
    socket.on('close', () => {
      forget()
      end({ kind: 'cut' })
    })
    return channel
  }

  return {
    exchange: (request, receiver) => (idle.pop() ?? open()).start(request, receiver),
    close: () => all.forEach((channel) => channel.close()),
  }
}

/** What a response other than 101 means for the exchange that waits for the channel. */
async function refusalOf(response: IncomingMessage, path: string): Promise<ExchangeEnd> {
  const { statusCode: status = 0 } = response
  if (status === 401) return { kind: 'unauthorized' }
  if (!isFinalStatus(status)) return { kind: 'cut' }
  let text = ''
  try {
    for await (const chunk of response) if (text.length < MAX_ERROR_BYTES) text += String(chunk)
  } catch {
    return { kind: 'cut' }
  }
  return { kind: 'rejected', error: new LedgerRejected(path, status, text) }
}
