import { refuse, Refusal } from '@gateway/api/refusal'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { describe, expect, test } from 'vitest'
import type { Admission, AdmittedCall, Running } from './admission.ts'
import { openRunningCalls } from './running-calls.ts'

const RUNNING: Running = { kind: 'running', invocation: 'inv_1' }
const REPLAY: Admission = { kind: 'replay', invocation: 'inv_1', contentType: 'application/json', body: '{}' }
const HOUR_MS = 3_600_000

/** A notifier that the test triggers by hand. */
function openHandNotifier() {
  const listeners = new Set<() => void>()
  return {
    notify: () => listeners.forEach((onNotify) => onNotify()),
    count: () => listeners.size,
    subscribe: (_topic: string, onNotify: () => void) => {
      listeners.add(onNotify)
      return () => void listeners.delete(onNotify)
    },
  }
}

/** Returns `running` this many times, then the replay. The test can wait for each ask. */
function openQuestion(runningTimes: number) {
  const asked: (() => void)[] = []
  let times = 0
  return {
    ask: async () => {
      asked.shift()?.()
      return times++ < runningTimes ? RUNNING : REPLAY
    },
    nextAsking: () => new Promise<void>((resolve) => asked.push(resolve)),
    times: () => times,
  }
}

describe('a call that joins a running one', () => {
  const never = new AbortController().signal

  test('asks the ledger again on each notification and unsubscribes once it has a result', async () => {
    const [notifier, question] = [openHandNotifier(), openQuestion(1)]
    const deps = { notifier, stopping: never, now: () => 0 }
    const joined = openRunningCalls(deps, { askEveryMs: HOUR_MS }).join(RUNNING, 'same', question.ask, never)
    const second = question.nextAsking()
    notifier.notify()
    await second
    notifier.notify()
    expect(await joined).toBe(REPLAY)
    expect(question.times()).toBe(2)
    expect(notifier.count()).toBe(0)
  })

  test('polls the ledger if no notification arrives', async () => {
    const deps = { notifier: openHandNotifier(), stopping: never, now: () => 0 }
    const calls = openRunningCalls(deps, { askEveryMs: 1 })
    expect(await calls.join(RUNNING, 'same', openQuestion(3).ask, never)).toBe(REPLAY)
  })

  test('gives up after a minute and names the invocation that is still running [idempotency_in_progress]', async () => {
    let nowMs = 0
    const deps = { notifier: openHandNotifier(), stopping: never, now: () => (nowMs += 20_000) }
    const { ask } = openQuestion(Infinity)
    const joined = openRunningCalls(deps, { askEveryMs: 1 }).join(RUNNING, 'same', ask, never)
    const refusal = await joined.catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal).toMatchObject({
      code: 'idempotency_in_progress',
      headers: { 'Retry-After': '2', 'X-Service-Invocation': 'inv_1' },
    })
  })

  test('gives up when its caller disconnects or the process stops', async () => {
    const [disconnect, stopping] = [new AbortController(), new AbortController()]
    const deps = { notifier: openHandNotifier(), stopping: stopping.signal, now: () => 0 }
    const calls = openRunningCalls(deps, { askEveryMs: HOUR_MS })
    const join = (disconnected: AbortSignal) => calls.join(RUNNING, 'same', openQuestion(Infinity).ask, disconnected)
    const left = join(disconnect.signal)
    disconnect.abort()
    await expect(left).rejects.toBeInstanceOf(ClientDisconnected)
    const stopped = join(never)
    stopping.abort()
    await expect(stopped).rejects.toMatchObject({ code: 'idempotency_in_progress' })
  })
})

describe('calls that join the same running call', () => {
  const never = new AbortController().signal
  const ADMITTED = { kind: 'admitted', invocation: 'inv_1', reservation: 'inv_2' } as AdmittedCall

  /** Joins callers to one running call. `recorded` queues what the ledger returns to the next asks. */
  function openJoiners() {
    const notifier = openHandNotifier()
    const calls = openRunningCalls({ notifier, stopping: never, now: () => 0 }, { askEveryMs: HOUR_MS })
    const asked: number[] = []
    const recorded: (() => Promise<Admission | Running>)[] = []
    const join = (n: number, same = 'same', disconnected = never) =>
      calls.join(
        RUNNING,
        same,
        async () => (asked.push(n), (recorded.shift() ?? (async () => RUNNING))()),
        disconnected,
      )
    const notify = async () => {
      notifier.notify()
      await new Promise(setImmediate)
    }
    return { asked, recorded, join, notify, subscriptions: notifier.count }
  }

  test('share a single poll of the ledger and all receive its result', async () => {
    const { asked, recorded, join, notify, subscriptions } = openJoiners()
    const joined = Array.from({ length: 1_000 }, (_, n) => join(n))
    await new Promise(setImmediate)
    await notify()
    expect([asked, subscriptions()]).toEqual([[0, 0], 1])
    recorded.push(async () => REPLAY)
    await notify()
    expect(new Set(await Promise.all(joined))).toEqual(new Set([REPLAY]))
    expect([asked.length, subscriptions()]).toEqual([3, 0])
  })

  test('poll separately if the ledger could record different results for them', async () => {
    const { asked, join } = openJoiners()
    for (const [n, same] of [
      [1, 'a key'],
      [2, 'another key'],
      [3, 'a key'],
    ] as const)
      void join(n, same)
    await new Promise(setImmediate)
    expect(asked).toEqual([1, 2])
  })

  test('are admitted one at a time while the others wait for the admitted call', async () => {
    const { recorded, join, notify } = openJoiners()
    recorded.push(async () => ADMITTED)
    const [first, second] = [join(1), join(2)]
    expect(await first).toBe(ADMITTED)
    recorded.push(async () => REPLAY)
    await notify()
    expect(await second).toBe(REPLAY)
  })

  test('are refused together, and keep waiting if one fails to reach the ledger or disconnects', async () => {
    const { asked, recorded, join, notify } = openJoiners()
    const leaving = new AbortController()
    const unavailable = new LedgerUnavailable({ why: 'unavailable' })
    recorded.push(async () => Promise.reject(unavailable))
    const joined = [join(1), join(2, 'same', leaving.signal), join(3), join(4)]
    const ends = Promise.allSettled(joined)
    await expect(joined[0]).rejects.toBe(unavailable)
    leaving.abort()
    await expect(joined[1]).rejects.toBeInstanceOf(ClientDisconnected)
    const refusal = refuse('overloaded', {})
    recorded.push(async () => Promise.reject(refusal))
    await notify()
    expect((await ends).slice(2)).toEqual([3, 4].map(() => ({ status: 'rejected', reason: refusal })))
    expect(asked).toEqual([1, 3, 3])
  })
})
