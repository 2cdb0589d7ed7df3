import type { EndedAnswer, ExecutionAnswer } from '@gateway/ledger-protocol/flow-reads'
import { Refusal, refuse } from '@gateway/api/refusal'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { describe, expect, test } from 'vitest'
import type { Deps } from '../deps.ts'
import { awaitExecution } from './await-execution.ts'
import { openEndingWatch } from './ending-watch.ts'
import { startExecution, subscribe, type Execution } from './start-execution.ts'

const HOUR_MS = 3_600_000
const CALLER = { keyHash: '0'.repeat(64), selector: null }
const RECORD = '{"id":"exe_1","status":"Succeeded"}'

/** A notifier that the test triggers by hand. */
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
  const [notifier, disconnect, cancel] = [openHandNotifier(), new AbortController(), new AbortController()]
  const openCalls = { cancellation: cancel.signal }
  const waiting = { notifier, openCalls } as unknown as Deps
  const subscription = subscribe(waiting, 'done:exe_1', disconnect.signal)
  const facts = {
    kind: 'started',
    execution: 'exe_1',
    project: 'prj_1',
    sandbox: 'sbx-1',
    revision: 1,
    key: null,
  } as const
  const limits = { rateHeaders: {}, textField: null }
  const execution: Execution = { ...facts, ...limits, replayed, keyed, ...subscription, caller: CALLER, askAgain }
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
    startExecution: () => look('start', { ...facts, replayed }),
    endedExecutions: ({ executions }: { executions: string[] }) =>
      look<EndedAnswer>('ended', { ended: state.done ? executions : [] }),
    readExecution: () => look<ExecutionAnswer>('read', { record: RECORD, done: state.done, image: null }),
  }
  const deps = {
    ledger,
    notifier,
    endings: openEndingWatch({ ledger }),
    openCalls,
    now: () => state.nowMs,
    rates: { take: async () => ({ headers: {} }) },
    admissionQueueLimit: { refuseIfFull: () => {}, during: <T>(work: () => Promise<T>) => work() },
  } as unknown as Deps
  const wait = () => awaitExecution(deps, execution, disconnect.signal, everyMs)
  return { state, notifier, disconnect, cancel, asked, subscription, deps, wait, nextLook: () => looks.promise }
}

describe('awaitExecution', () => {
  test('returns the record on notification', async () => {
    const { state, notifier, wait, asked } = openWait()
    const ended = wait()
    state.done = true
    notifier.notify('done:exe_1')
    expect((await ended).record).toBe(RECORD)
    expect(asked).toEqual(['read'])
  })

  test('returns the record even if the notification is lost', async () => {
    const { state, wait, nextLook } = openWait({ everyMs: 1 })
    const looked = nextLook()
    const ended = wait()
    await looked
    state.done = true
    expect((await ended).record).toBe(RECORD)
  })

  test('keeps waiting while the ledger is unavailable', async () => {
    const { state, wait, nextLook, notifier } = openWait({ everyMs: 1 })
    state.away = true
    const looked = nextLook()
    const ended = wait()
    await looked
    await nextLook()
    Object.assign(state, { away: false, done: true })
    notifier.notify('done:exe_1')
    expect((await ended).record).toBe(RECORD)
  })

  test('stops waiting if the caller disconnects', async () => {
    const { disconnect, wait } = openWait()
    const ended = wait()
    disconnect.abort()
    await expect(ended).rejects.toThrow(ClientDisconnected)
  })

  test('stops waiting if the process stops, and says how to get the result [idempotency_in_progress, unavailable]', async () => {
    for (const [keyed, code] of [
      [true, 'idempotency_in_progress'],
      [false, 'unavailable'],
    ] as const) {
      const { cancel, wait } = openWait({ keyed })
      const ended = wait()
      cancel.abort()
      const refusal = (await ended.catch((error: unknown) => error)) as Refusal
      expect(refusal.code).toBe(code)
      if (!keyed) expect(refusal.body.resolution).toContain('/v1/executions/exe_1')
    }
  })

  test('stops waiting for a repeat after a minute [idempotency_in_progress]', async () => {
    const { state, wait, nextLook } = openWait({ replayed: true, everyMs: 1 })
    const looked = nextLook()
    const ended = wait().catch((error: unknown) => error)
    await looked
    state.nowMs = 60_000
    expect(await ended).toMatchObject({ code: 'idempotency_in_progress', headers: { 'Retry-After': '2' } })
  })

  test('re-authorizes a repeat at each poll [key_revoked]', async () => {
    let times = 0
    const askAgain = async () => {
      if (++times === 3) throw refuse('key_revoked', { rotatedTo: null })
    }
    const { wait } = openWait({ replayed: true, everyMs: 1, askAgain })
    await expect(wait()).rejects.toMatchObject({ code: 'key_revoked' })
    expect(times).toBe(3)
  })

  test('keeps a repeat waiting while the ledger is unavailable', async () => {
    const { state, asked, nextLook, deps, disconnect } = openWait({ replayed: true })
    const request = {
      keyHash: CALLER.keyHash,
      selector: null,
      tag: null,
      sandbox: 'sbx-1',
      revision: null,
      surface: 'invoke' as const,
      input: {},
      idempotency: { key: 'key', fingerprint: '' },
    }
    const caller = { requestId: 'req_1', disconnected: disconnect.signal }
    const execution = await startExecution(deps, request, caller, (id) => `done:${id}`)
    state.away = true
    const ended = awaitExecution(deps, execution, disconnect.signal, 1)
    while (asked.filter((what) => what === 'start').length < 2) await nextLook()
    Object.assign(state, { away: false, done: true })
    expect((await ended).record).toBe(RECORD)
  })

  test('reads an ended execution once for a repeat', async () => {
    const { state, wait, asked } = openWait({ replayed: true })
    state.done = true
    expect((await wait()).record).toBe(RECORD)
    expect(asked).toEqual(['read'])
  })
})

describe('a subscription', () => {
  test('listens to one topic, and to none once it is closed', async () => {
    const { notifier, subscription } = openWait()
    subscription.moveTo('done:exe_0')
    expect(notifier.listening()).toEqual(['done:exe_0'])
    notifier.notify('done:exe_0')
    expect(await subscription.waitForChange(HOUR_MS)).toBe('woken')
    subscription.close()
    expect(notifier.listening()).toEqual([])
  })
})
