import { type AnswerLine, channelLimits, channels, type OperationLine } from '@gateway/ledger-protocol/channels'
import { LedgerUnavailable, type SendOperation } from './call-operation.ts'
import { type ChannelEnd, type ChannelOptions, openSealedChannel } from './sealed-channel.ts'

// Channels of operations. Requests of many callers share one, and each answer comes when it is ready.
//   O1  The requests of one turn of the event loop go in one message.
//   O2  Another channel is opened when each one is busy, so that a crowd meets several replicas of the ledger.
//   O3  What is under way on a channel that ends is rejected: its callers send it again, on another one.
//   O4  A channel whose ledger stops, answers late or answers 503 gets no new requests, so that a replica that is alive
//       and can't work keeps no callers. It is closed after its answers, or after a while without them.
//   O5  What waits for a ledger that can't be reached is rejected, so that its callers back off.

interface Call {
  /** Its line, from the path on. */
  line: string
  answer(answer: AnswerLine): void
  fail(error: Error): void
  /** Called if its caller no longer waits. */
  onAbandoned: () => void
}

interface Channel {
  /** Number of requests under way. */
  load(): number
  start(call: Call): void
  close(): void
}

const { path } = channels.operations
/** O2 */
const BUSY = 16
const MAX_CHANNELS = 4
/** Requests that may wait for a place; they wait for much less than a try may take. One more is refused. */
const MAX_WAITING = 1_000
/** Of one message, unless one request alone is longer. */
const MESSAGE_CHARACTERS = 1024 * 1024
/** Two signs of life were missed. */
const SILENT_MS = 2 * channelLimits.signOfLifeMs
/** O4. A try that had less time says nothing about its ledger. */
const LATE_MS = 1_000
/** O4. While the database is away, each channel that leaves is replaced by one that leaves, too. */
const LEAVES_EVERY_MS = 1_000
const LEAVING_MS = 30_000

export function openOperationChannels(options: ChannelOptions): { send: SendOperation; close(): void } {
  const open = new Set<Channel>()
  const leaving = new Set<Channel>()
  const waiting = new Set<Call>()
  let lastLeftMs = -Infinity

  const send: SendOperation = (operation, request, traceparent, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Error('the try has ended'))
      if (waiting.size >= MAX_WAITING) return reject(new LedgerUnavailable({ why: 'overloaded' }))
      const trace = traceparent === undefined ? '' : `,"trace":"${traceparent}"`
      const call: Call = {
        line: `"path":"${operation}","request":${request}${trace}}\n`,
        answer({ status, answer }) {
          settle()
          resolve({ status, value: answer })
        },
        fail(error) {
          settle()
          reject(error)
        },
        onAbandoned() {},
      }
      const abandon = () => {
        call.onAbandoned()
        call.fail(new Error('the try has ended'))
      }
      const settle = () => {
        waiting.delete(call)
        signal.removeEventListener('abort', abandon)
      }
      signal.addEventListener('abort', abandon)
      waiting.add(call)
      startWaiting()
    })

  function startWaiting(): void {
    for (const call of waiting) {
      const channel = leastBusy()
      if (channel.load() >= channelLimits.operationsUnderWay) return
      waiting.delete(call)
      channel.start(call)
    }
  }

  function leastBusy(): Channel {
    let least: Channel | null = null
    for (const channel of open) if (least === null || channel.load() < least.load()) least = channel
    return least === null || (least.load() >= BUSY && open.size < MAX_CHANNELS) ? openChannel() : least
  }

  function openChannel(): Channel {
    const calls = new Map<number, Call>()
    let nextN: OperationLine['n'] = 0
    let unsent = ''
    let leavingTimer: NodeJS.Timeout | undefined
    const sealed = openSealedChannel(options, path, SILENT_MS, {
      receive,
      end: onEnd,
      isIdle: () => calls.size === 0,
    })

    function start(call: Call): void {
      if (calls.size === 0) sealed.expectAnswers()
      const sentMs = performance.now()
      call.onAbandoned = () => performance.now() - sentMs >= LATE_MS && leaveSick()
      const line = `{"n":${nextN},${call.line}`
      call.line = ''
      calls.set(nextN++, call)
      if (unsent === '') setImmediate(flush) // O1
      else if (unsent.length + line.length > MESSAGE_CHARACTERS) flush()
      unsent += line
    }

    function flush(): void {
      if (unsent === '') return
      sealed.send(unsent)
      unsent = ''
    }

    function receive(line: string): void {
      const read = JSON.parse(line) as AnswerLine | { leaving: true } | { error: string }
      if ('error' in read) throw new Error(read.error) // it read none of the lines of a message
      if ('leaving' in read) leave()
      else {
        calls.get(read.n)?.answer(read)
        calls.delete(read.n)
        if (read.status === 503) leaveSick()
      }
      if (calls.size === 0 && leaving.has(channel)) close()
      else if (calls.size === 0) sealed.rest()
      startWaiting()
    }

    /** O4 */
    function leaveSick(): void {
      if (performance.now() - lastLeftMs < LEAVES_EVERY_MS) return
      lastLeftMs = performance.now()
      leave()
    }

    function leave(): void {
      if (!open.delete(channel)) return
      leaving.add(channel)
      leavingTimer = setTimeout(() => {
        sealed.close()
        onEnd({ kind: 'cut' })
      }, LEAVING_MS).unref()
    }

    function onEnd(how: ChannelEnd): void {
      forget()
      const error = how.kind === 'rejected' ? how.error : new Error('the channel has ended')
      const failed = sealed.wasOpen() ? [...calls.values()] : [...calls.values(), ...waiting] // O3, O5
      calls.clear()
      for (const call of failed) call.fail(error)
      startWaiting()
    }

    function close(): void {
      forget()
      sealed.close()
    }

    function forget(): void {
      unsent = ''
      clearTimeout(leavingTimer)
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
