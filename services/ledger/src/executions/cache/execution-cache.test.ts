import { describe, expect, test } from 'vitest'
import type { NodeFacts, ExecutionChange, ExecutionFacts } from '../store/read-executions.ts'
import { openExecutionCache } from './load-executions.ts'

const waiting: NodeFacts = {
  state: 'Ready',
  attempt: 1,
  deaths: 0,
  lease: null,
  instance: null,
  call: null,
  reservation: null,
  ports: [],
}
const executionOf = (id: string, more: Partial<ExecutionFacts> = {}): ExecutionFacts => ({
  id,
  project: 'prj',
  sandbox: 'sbx-1',
  revision: 1,
  digest: null,
  status: 'Running',
  seq: 1,
  version: 3,
  failing: false,
  stoppedBy: null,
  deadlineMs: 5_000,
  nodes: [waiting, waiting],
  ...more,
})

function endOfFirst(execution: ExecutionFacts, more: Partial<ExecutionChange> = {}): ExecutionChange {
  const ended = { ...waiting, state: 'Succeeded' as const, lease: 'l', instance: 'ins', ports: ['text'] }
  const node = { ...ended, seq: 2, output: '{"text":"ü"}', error: null, measured: { durationMs: 1, remoteMs: null } }
  return {
    execution,
    status: 'Running',
    seq: 2,
    error: null,
    output: null,
    started: false,
    deadlineInMs: null,
    nodes: new Map([[0, node]]),
    closings: [],
    stoppedBy: execution.stoppedBy,
    ending: false,
    enqueues: false,
    ...more,
  }
}

const open = (maxExecutions = 10, maxCharacters = 1_000) => openExecutionCache({ maxExecutions, maxCharacters })

describe('the cached snapshot of an execution', () => {
  test('equals what a read would return after the write', () => {
    const cache = open()
    cache.setWritten(endOfFirst(executionOf('exe'), { error: '{}', deadlineInMs: 70 }), 9, 1_000)
    const { seq, output, error, measured, ...facts } = endOfFirst(executionOf('exe')).nodes.get(0)!
    expect([seq, error, measured]).toEqual([2, null, { durationMs: 1, remoteMs: null }])
    expect(cache.get('exe')).toMatchObject({
      execution: executionOf('exe', { seq: 2, version: 9, failing: true, deadlineMs: 1_070, nodes: [facts, waiting] }),
      outputs: new Map([[0, output]]),
    })
  })

  test('is dropped once the execution has ended', () => {
    const cache = open()
    cache.setRead(executionOf('exe'), new Map())
    cache.setWritten(endOfFirst(executionOf('exe'), { status: 'Succeeded' }), 9, 0)
    expect(cache.get('exe')).toBeNull()
  })

  test('is evicted, least recently used first, over the limit of executions or characters', () => {
    const cache = open(2)
    for (const id of ['a', 'b', 'a', 'c']) cache.setRead(executionOf(id), new Map())
    expect(['a', 'b', 'c'].map((id) => cache.get(id) !== null)).toEqual([true, false, true])
    const small = open(10, 15)
    for (const id of ['a', 'b']) small.setRead(executionOf(id), new Map([[0, '"ten chars"']]))
    expect(['a', 'b'].map((id) => small.get(id) !== null)).toEqual([false, true])
  })
})

describe('a stale snapshot', () => {
  test('keeps its execution out of the cache from then on', () => {
    const cache = open()
    cache.setRead(executionOf('exe'), new Map())
    cache.judge('exe', false)
    cache.setRead(executionOf('exe'), new Map())
    expect(cache.get('exe')).toBeNull()
  })

  test('does not affect other executions, but many stale snapshots pause the cache for a while', () => {
    const cache = open(1_000)
    cache.setRead(executionOf('exe'), new Map())
    for (let n = 0; n < 100; n++) cache.judge(`exe_${n}`, n >= 10)
    expect(cache.get('exe')).not.toBeNull()
    for (let n = 0; n < 100; n++) cache.judge(`exe_${n}`, n >= 11)
    expect(cache.get('exe')).toBeNull()
    let lookups = 1
    while (cache.get('exe') === null && lookups < 10_000) lookups++
    expect(lookups).toBeLessThan(10_000)
  })
})
