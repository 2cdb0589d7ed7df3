import { Refusal } from '@gateway/contracts/refusal'
import { ClientDisconnected } from '@gateway/http/client-disconnected'
import { describe, expect, test } from 'vitest'
import type { Admission, Running } from './admission.ts'
import { joinRunning } from './join-running.ts'

const RUNNING: Running = { kind: 'running', invocation: 'inv_1' }
const REPLAY: Admission = { kind: 'replay', invocation: 'inv_1', contentType: 'application/json', body: '{}' }
const HOUR_MS = 3_600_000

/** A notifier as any subscriber sees it; the test notifies. */
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

/** Answers `running` so many times, then the replay. Each asking can be waited for. */
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

  test('asks again at each notification, and unsubscribes when it has its answer', async () => {
    const [notifier, question] = [openHandNotifier(), openQuestion(1)]
    const deps = { notifier, stopping: never, now: () => 0 }
    const joined = joinRunning(deps, RUNNING, question.ask, never, { askEveryMs: HOUR_MS })
    const second = question.nextAsking()
    notifier.notify()
    await second
    notifier.notify()
    expect(await joined).toBe(REPLAY)
    expect(question.times()).toBe(2)
    expect(notifier.count()).toBe(0)
  })

  test('asks by itself where no notification comes', async () => {
    const deps = { notifier: openHandNotifier(), stopping: never, now: () => 0 }
    expect(await joinRunning(deps, RUNNING, openQuestion(3).ask, never, { askEveryMs: 1 })).toBe(REPLAY)
  })

  test('gives up after a minute, with the invocation that still runs [idempotency_in_progress]', async () => {
    let nowMs = 0
    const deps = { notifier: openHandNotifier(), stopping: never, now: () => (nowMs += 20_000) }
    const { ask } = openQuestion(Infinity)
    const refusal = await joinRunning(deps, RUNNING, ask, never, { askEveryMs: 1 }).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal).toMatchObject({
      code: 'idempotency_in_progress',
      headers: { 'Retry-After': '2', 'X-Service-Invocation': 'inv_1' },
    })
  })

  test('gives up when its caller leaves or the process stops', async () => {
    const [disconnect, stopping] = [new AbortController(), new AbortController()]
    const deps = { notifier: openHandNotifier(), stopping: stopping.signal, now: () => 0 }
    const join = (disconnected: AbortSignal) =>
      joinRunning(deps, RUNNING, openQuestion(Infinity).ask, disconnected, { askEveryMs: HOUR_MS })
    const left = join(disconnect.signal)
    disconnect.abort()
    await expect(left).rejects.toBeInstanceOf(ClientDisconnected)
    const stopped = join(never)
    stopping.abort()
    await expect(stopped).rejects.toMatchObject({ code: 'idempotency_in_progress' })
  })
})
