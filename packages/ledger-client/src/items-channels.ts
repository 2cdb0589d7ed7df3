import { channelLimits, channels } from '@gateway/ledger-protocol/channels'
import type { OutcomeLine } from '@gateway/ledger-protocol/ledger-items'
import { LedgerRejected } from './call-operation.ts'
import { type ChannelEnd, type ChannelOptions, openSealedChannel } from './sealed-channel.ts'

// Channels of items. One carries one exchange at a time, a message with items and messages with their outcomes, and is
// kept for the next one.

export interface ItemsRequest {
  /** NDJSON, one `ItemLine` per line. */
  lines: string
  /** Number of lines. */
  count: number
  /** Time after which the whole exchange is cut off. */
  limitMs: number
}

/** How an exchange ended. Items without an outcome by then get none. */
export type ExchangeEnd = { kind: 'complete' } | ChannelEnd

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

interface Channel {
  start(request: ItemsRequest, receiver: ItemsReceiver): () => void
  close(): void
}

interface Exchange {
  /** Number of items without an outcome. */
  count: number
  receiver: ItemsReceiver
  limit: NodeJS.Timeout
}

const { path } = channels.items
/** The items of a channel that was silent for this long are resent on another one. */
const SILENT_MS = 3 * channelLimits.signOfLifeMs

export function openItemsChannels(options: ChannelOptions): ItemsChannels {
  const idle: Channel[] = []
  const all = new Set<Channel>()

  function open(): Channel {
    let current: Exchange | null = null
    const sealed = openSealedChannel(options, path, SILENT_MS, { receive, end, isIdle: () => current === null })

    function start({ lines, count, limitMs }: ItemsRequest, receiver: ItemsReceiver): () => void {
      const exchange = { count, receiver, limit: setTimeout(() => fail({ kind: 'cut' }), limitMs) }
      current = exchange
      sealed.expectAnswers()
      sealed.send(lines)
      return () => {
        if (current !== exchange) return
        stop()
        close()
      }
    }

    function receive(line: string): void {
      if (current === null) return
      const read = JSON.parse(line) as OutcomeLine | { error: string }
      if ('error' in read) return fail({ kind: 'rejected', error: new LedgerRejected(path, 400, read.error) })
      current.count--
      const exchange = current
      exchange.receiver.outcome(read)
      if (current !== exchange || exchange.count > 0) return // it may have been cancelled by its receiver
      stop()
      idle.push(channel)
      sealed.rest()
      exchange.receiver.end({ kind: 'complete' })
    }

    function stop(): Exchange | null {
      const stopped = current
      if (stopped !== null) clearTimeout(stopped.limit)
      current = null
      return stopped
    }

    function fail(how: ChannelEnd): void {
      sealed.close()
      end(how)
    }

    function end(how: ChannelEnd): void {
      forget()
      stop()?.receiver.end(how)
    }

    function close(): void {
      forget()
      sealed.close()
    }

    function forget(): void {
      all.delete(channel)
      const at = idle.indexOf(channel)
      if (at >= 0) idle.splice(at, 1)
    }

    const channel: Channel = { start, close }
    all.add(channel)
    return channel
  }

  return {
    exchange: (request, receiver) => (idle.pop() ?? open()).start(request, receiver),
    close: () => all.forEach((channel) => channel.close()),
  }
}
