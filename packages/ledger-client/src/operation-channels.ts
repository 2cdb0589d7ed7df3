import { type AnswerLine, channelLimits, channels } from '@gateway/ledger-protocol/channels'
import { LedgerRejected, type SendOperation } from './call-operation.ts'
import { type ChannelEnd, type ChannelOptions, openSealedChannel } from './sealed-channel.ts'

// Channels of operations. Requests of many callers share one, and each answer comes when it is ready.
//   O1  The requests of one turn of the event loop go in one message.
//   O2  Another channel is opened when each one is busy, so that a crowd meets several replicas of the ledger.
//   O3  What is under way on a channel that ends is rejected: its callers send it again, on another one.

interface Call {
  path: string
  body: string
  traceparent: string | undefined
  answer(line: AnswerLine): void
  fail(error: Error): void
  /** The caller no longer waits. */
  ended: boolean
}

interface Channel {
  /** Number of requests under way. */
  load(): number
  start(call: Call): void
  close(): void
}

const row = channels.operations
/** O2 */
const BUSY = 16
const MAX_CHANNELS = 4
/** Of one message, unless one request alone is longer. */
const MESSAGE_CHARACTERS = 1024 * 1024
/** As long as one try of an operation (ledger-client.ts). */
const SILENT_MS = 2 * channelLimits.quietMs

export function openOperationChannels(options: ChannelOptions): { send: SendOperation; close(): void } {
  const open = new Set<Channel>()
  const leaving = new Set<Channel>()
  const waiting: Call[] = []

  const send: SendOperation = (path, body, traceparent, signal) =>
    new Promise((resolve, reject) => {
      const call: Call = {
        path,
        body,
        traceparent,
        answer({ status, answer }) {
          end()
          resolve({ status, value: answer })
        },
        fail(error) {
          end()
          reject(error)
        },
        ended: false,
      }
      const abandon = () => call.fail(new Error('the try has ended'))
      const end = () => {
        call.ended = true
        signal.removeEventListener('abort', abandon)
      }
      if (signal.aborted) return abandon()
      signal.addEventListener('abort', abandon)
      waiting.push(call)
      startWaiting()
    })

  function startWaiting(): void {
    while (waiting.length > 0) {
      const channel = leastBusy()
      if (channel.load() >= channelLimits.openOperations) return
      const call = waiting.shift()!
      if (!call.ended) channel.start(call)
    }
  }

  function leastBusy(): Channel {
    let least: Channel | null = null
    for (const channel of open) if (least === null || channel.load() < least.load()) least = channel
    return least === null || (least.load() >= BUSY && open.size < MAX_CHANNELS) ? openChannel() : least
  }

  function openChannel(): Channel {
    const calls = new Map<number, Call>()
    let sent = 0
    let lines = '' // to be sent
    const isIdle = () => calls.size === 0
    const sealed = openSealedChannel(options, row.path, SILENT_MS, { receive, end, isIdle })

    function start(call: Call): void {
      if (calls.size === 0) sealed.awaken()
      const n = sent++
      calls.set(n, call)
      const trace = call.traceparent === undefined ? '' : `,"trace":"${call.traceparent}"`
      const line = `{"n":${n},"path":"${call.path}","request":${call.body}${trace}}\n`
      if (lines === '') setImmediate(flush) // O1
      else if (lines.length + line.length > MESSAGE_CHARACTERS) flush()
      lines += line
    }

    function flush(): void {
      if (lines === '') return
      sealed.send(lines)
      lines = ''
    }

    function receive(line: string): void {
      const read = JSON.parse(line) as AnswerLine | { leaving: true } | { error: string }
      if ('error' in read) {
        sealed.close()
        return end({ kind: 'rejected', error: new LedgerRejected(row.path, 400, read.error) })
      }
      if ('leaving' in read) {
        open.delete(channel)
        leaving.add(channel)
      } else {
        const call = calls.get(read.n)
        calls.delete(read.n)
        if (call?.ended === false) call.answer(read)
      }
      if (calls.size === 0 && leaving.has(channel)) close()
      else if (calls.size === 0) sealed.rest()
      startWaiting()
    }

    function end(how: ChannelEnd): void {
      forget()
      const error = how.kind === 'rejected' ? how.error : new Error('the channel has ended')
      for (const call of calls.values()) if (!call.ended) call.fail(error) // O3
      calls.clear()
      startWaiting()
    }

    function close(): void {
      forget()
      sealed.close()
    }

    function forget(): void {
      lines = ''
      open.delete(channel)
      leaving.delete(channel)
    }

    const channel: Channel = { load: () => calls.size, start, close }
    open.add(channel)
    return channel
  }

  return {
    send,
    close() {
      for (const channel of [...open, ...leaving]) channel.close()
    },
  }
}
