import type { ExecutionAnswer, FollowAnswer } from '@gateway/contracts/flow-reads'
import { Refusal, refuse } from '@gateway/contracts/refusal'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import { describe, expect, test } from 'vitest'
import { CallerGone } from '../receive/caller-gone.ts'
import { executionAwaiter } from './await-run.ts'
import { openWaiter } from './ear.ts'
import type { Execution } from './start-run.ts'

const HOUR_MS = 3_600_000
const RECORD = '{"id":"exe_1","status":"Succeeded"}'

/** A notifier as any listener sees it, rung by hand. */
function openHandNotifier() {
  const topics = new Map<string, () => void>()
  return {
    notify: (topic: string) => topics.get(topic)?.(),
    listening: () => [...topics.keys()],
    subscribe(topic: string, onNotify: () => void) {
      topics.set(topic, onNotify)
      return () => void topics.delete(topic)
    },
  }
}

interface Setting {
  replayed?: boolean
  keyed?: boolean
  everyMs?: number
  askAgain?: () => Promise<void>
}

function openWait({ replayed = false, keyed = true, everyMs = HOUR_MS, askAgain = async () => {} }: Setting = {}) {
  const [notifier, gone, ending] = [openHandNotifier(), new AbortController(), new AbortController()]
  const waiter = openWaiter({ notifier, signals: [gone.signal, ending.signal], everyMs })
  waiter.listenTo('done:exe_1')
  const execution = { execution: 'exe_1', project: 'prj_1', replayed, keyed, waiter, askAgain } as Execution
  const asked: string[] = []
  let looks = Promise.withResolvers<void>()
  const state = { done: false, away: false, nowMs: 0 }
  function look<T>(what: string, answer: T): Promise<T> {
    asked.push(what)
    looks.resolve()
    looks = Promise.withResolvers()
    return state.away ? Promise.reject(new LedgerUnavailable({ why: 'unavailable' })) : Promise.resolve(answer)
  }
  const ledger = {
    followExecution: () => look<FollowAnswer>('follow', { lines: '', seq: 0, done: state.done }),
    readExecution: () => look<ExecutionAnswer>('read', { record: RECORD, done: state.done }),
  }
  const wait = () => executionAwaiter({ ledger, ending: ending.signal, now: () => state.nowMs })(execution, gone.signal)
  return { ...state, state, notifier, gone, ending, asked, execution, wait, nextLook: () => looks.promise }
}

describe('waiting for the end of a run', () => {
  test('ends at the ring of the notifier', async () => {
    const { state, notifier, wait, asked } = openWait()
    const ended = wait()
    state.done = true
    notifier.notify('done:exe_1')
    expect(await ended).toBe(RECORD)
    expect(asked).toEqual(['read'])
  })

  test('ends without a ring, which may be lost', async () => {
    const { state, wait, nextLook } = openWait({ everyMs: 1 })
    const looked = nextLook()
    const ended = wait()
    await looked
    state.done = true
    expect(await ended).toBe(RECORD)
  })

  test('goes on while the ledger is away', async () => {
    const { state, wait, nextLook, notifier } = openWait({ everyMs: 1 })
    state.away = true
    const looked = nextLook()
    const ended = wait()
    await looked
    await nextLook()
    Object.assign(state, { away: false, done: true })
    notifier.notify('done:exe_1')
    expect(await ended).toBe(RECORD)
  })

  test('is over for a caller who leaves', async () => {
    const { gone, wait } = openWait()
    const ended = wait()
    gone.abort()
    await expect(ended).rejects.toThrow(CallerGone)
  })

  test('is over when the process stops, and says where to go on [idempotency_in_progress, unavailable]', async () => {
    for (const [keyed, code] of [
      [true, 'idempotency_in_progress'],
      [false, 'unavailable'],
    ] as const) {
      const { ending, wait } = openWait({ keyed })
      const ended = wait()
      ending.abort()
      const refusal = (await ended.catch((error: unknown) => error)) as Refusal
      expect(refusal.code).toBe(code)
      if (!keyed) expect(refusal.body.resolution).toContain('/v1/executions/exe_1')
    }
  })

  test('of a repeat is a minute long [idempotency_in_progress]', async () => {
    const { state, wait, nextLook } = openWait({ replayed: true, everyMs: 1 })
    const looked = nextLook()
    const ended = wait().catch((error: unknown) => error)
    await looked
    state.nowMs = 60_000
    expect(await ended).toMatchObject({ code: 'idempotency_in_progress', headers: { 'Retry-After': '2' } })
  })

  test('of a repeat is authorised anew at each look [key_revoked]', async () => {
    let times = 0
    const askAgain = async () => {
      if (++times === 3) throw refuse('key_revoked', { rotatedTo: null })
    }
    const { wait } = openWait({ replayed: true, everyMs: 1, askAgain })
    await expect(wait()).rejects.toMatchObject({ code: 'key_revoked' })
    expect(times).toBe(3)
  })

  test('of a repeat whose run has ended takes one look', async () => {
    const { state, wait, asked } = openWait({ replayed: true })
    state.done = true
    expect(await wait()).toBe(RECORD)
    expect(asked).toEqual(['read'])
  })
})

describe('an ear', () => {
  test('listens to one topic, and to none once it is closed', async () => {
    const { notifier, execution } = openWait()
    execution.waiter.listenTo('done:exe_0')
    expect(notifier.listening()).toEqual(['done:exe_0'])
    notifier.notify('done:exe_0')
    expect(await execution.waiter.next()).toBe('woken')
    execution.waiter.close()
    expect(notifier.listening()).toEqual([])
  })
})
