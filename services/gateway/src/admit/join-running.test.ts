import { Refusal } from '@gateway/contracts/refusal'
import { describe, expect, test } from 'vitest'
import { CallerGone } from '../receive/caller-gone.ts'
import type { Entrance, Running } from './admit-call.ts'
import { runningJoiner } from './join-running.ts'

const RUNNING: Running = { kind: 'running', invocation: 'inv_1' }
const REPLAY: Entrance = { kind: 'replay', invocation: 'inv_1', contentType: 'application/json', body: '{}' }
const HOUR_MS = 3_600_000

/** A notifier as any listener sees it, rung by hand. */
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

  test('asks again at each ring, and stops listening when it has its answer', async () => {
    const [notifier, question] = [openHandNotifier(), openQuestion(1)]
    const join = runningJoiner({ notifier, stopping: never, now: () => 0, askEveryMs: HOUR_MS })
    const joined = join(RUNNING, question.ask, never)
    const second = question.nextAsking()
    notifier.notify()
    await second
    notifier.notify()
    expect(await joined).toBe(REPLAY)
    expect(question.times()).toBe(2)
    expect(notifier.count()).toBe(0)
  })

  test('asks by itself where no notifier rings', async () => {
    const join = runningJoiner({ notifier: openHandNotifier(), stopping: never, now: () => 0, askEveryMs: 1 })
    expect(await join(RUNNING, openQuestion(3).ask, never)).toBe(REPLAY)
  })

  test('gives up after a minute, with the invocation that still runs [idempotency_in_progress]', async () => {
    let nowMs = 0
    const join = runningJoiner({
      notifier: openHandNotifier(),
      stopping: never,
      now: () => (nowMs += 20_000),
      askEveryMs: 1,
    })
    const refusal = await join(RUNNING, openQuestion(Infinity).ask, never).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal).toMatchObject({
      code: 'idempotency_in_progress',
      headers: { 'Retry-After': '2', 'X-Service-Invocation': 'inv_1' },
    })
  })

  test('gives up when its caller leaves or the process stops', async () => {
    const [gone, stopping] = [new AbortController(), new AbortController()]
    const join = runningJoiner({
      notifier: openHandNotifier(),
      stopping: stopping.signal,
      now: () => 0,
      askEveryMs: HOUR_MS,
    })
    const left = join(RUNNING, openQuestion(Infinity).ask, gone.signal)
    gone.abort()
    await expect(left).rejects.toBeInstanceOf(CallerGone)
    const stopped = join(RUNNING, openQuestion(Infinity).ask, never)
    stopping.abort()
    await expect(stopped).rejects.toMatchObject({ code: 'idempotency_in_progress' })
  })
})
