import { describe, expect, test } from 'vitest'
import type { NodeFacts, ExecutionChange, ExecutionFacts } from '../store/execution-facts.ts'
import { openExecutionMemory } from './execution-cache.ts'

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
  status: 'Running',
  seq: 1,
  version: 3,
  failing: false,
  deadlineMs: 5_000,
  nodes: [waiting, waiting],
  ...more,
})

function endOfFirst(execution: ExecutionFacts, more: Partial<ExecutionChange> = {}): ExecutionChange {
  const ended = { ...waiting, state: 'Succeeded' as const, lease: 'l', instance: 'ins', ports: ['text'] }
  const node = { ...ended, seq: 2, output: '{"text":"ü"}', error: null, durationMs: 1, remoteMs: null }
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
    ending: false,
    ...more,
  }
}

const open = (mostExecutions = 10, mostCharacters = 1_000) => openExecutionMemory({ mostExecutions, mostCharacters })

describe('what is remembered of a run', () => {
  test('is what a reading would find after the write', () => {
    const memory = open()
    memory.wrote(endOfFirst(executionOf('exe'), { error: '{}', deadlineInMs: 70 }), 9, 1_000)
    const { seq, output, error, durationMs, remoteMs, ...facts } = endOfFirst(executionOf('exe')).nodes.get(0)!
    expect([seq, error, durationMs, remoteMs]).toEqual([2, null, 1, null])
    expect(memory.recall('exe')).toMatchObject({
      execution: executionOf('exe', { seq: 2, version: 9, failing: true, deadlineMs: 1_070, nodes: [facts, waiting] }),
      outputs: new Map([[0, output]]),
    })
  })

  test('is forgotten when it has ended', () => {
    const memory = open()
    memory.read(executionOf('exe'), new Map())
    memory.wrote(endOfFirst(executionOf('exe'), { status: 'Succeeded' }), 9, 0)
    expect(memory.recall('exe')).toBeNull()
  })

  test('is bounded: what was used longest ago goes first', () => {
    const memory = open(2)
    for (const id of ['a', 'b', 'a', 'c']) memory.read(executionOf(id), new Map())
    expect(['a', 'b', 'c'].map((id) => memory.recall(id) !== null)).toEqual([true, false, true])
    const small = open(10, 15)
    for (const id of ['a', 'b']) small.read(executionOf(id), new Map([[0, '"ten chars"']]))
    expect(['a', 'b'].map((id) => small.recall(id) !== null)).toEqual([false, true])
  })
})

describe('a wrong guess', () => {
  test('makes a run one that is read', () => {
    const memory = open()
    memory.read(executionOf('exe'), new Map())
    memory.judge('exe', false)
    memory.read(executionOf('exe'), new Map())
    expect(memory.recall('exe')).toBeNull()
  })

  test('now and then stops no others, but many stop all for a while', () => {
    const memory = open(1_000)
    memory.read(executionOf('exe'), new Map())
    for (let n = 0; n < 100; n++) memory.judge(`exe_${n}`, n >= 10)
    expect(memory.recall('exe')).not.toBeNull()
    for (let n = 0; n < 100; n++) memory.judge(`exe_${n}`, n >= 11)
    expect(memory.recall('exe')).toBeNull()
    let recalls = 1
    while (memory.recall('exe') === null && recalls < 10_000) recalls++
    expect(recalls).toBeLessThan(10_000)
  })
})
