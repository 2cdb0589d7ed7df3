import { describe, expect, test } from 'vitest'
import type { ClaimItem, CompleteItem } from '@gateway/ledger-protocol/flow-items'
import { buildPackage } from '@gateway/flow/package'
import { planOf } from '@gateway/flow/plan'
import { decideExecution } from './decide-execution.ts'
import type { NodeItem } from './node-item.ts'
import { chain, fan, oneCall } from '../../fixtures/sandbox-products.ts'
import type { NodeFacts, ExecutionChange, ExecutionFacts } from '../store/read-executions.ts'

const NOW = 1_000_000
const usage = { promptTokens: 1, completionTokens: 2, estimated: false }

const node = (more: Partial<NodeFacts> = {}): NodeFacts => ({
  state: 'Pending',
  attempt: 1,
  deaths: 0,
  lease: null,
  instance: null,
  call: null,
  reservation: null,
  ports: [],
  ...more,
})
const running = (lease: string, more: Partial<NodeFacts> = {}) =>
  node({ state: 'Running', lease, instance: 'ins', ...more })
const ended = node({ state: 'Succeeded', lease: 'was', instance: 'ins', ports: ['text'] })

function decide(
  graph: Parameters<typeof buildPackage>[0],
  nodes: NodeFacts[],
  items: NodeItem[],
  execution: Partial<ExecutionFacts> = {},
) {
  const built = buildPackage(graph).package
  return decideExecution({
    execution: {
      id: 'exe',
      project: 'prj',
      sandbox: 'sbx-1',
      revision: 1,
      digest: null,
      status: 'Running',
      seq: 1,
      version: 3,
      failing: false,
      stoppedBy: null,
      deadlineMs: NOW + 1_000,
      nodes,
      ...execution,
    },
    plan: planOf(built),
    requiredOutputs: built.output.required ?? [],
    items,
    nowMs: NOW,
    alive: new Set(['ins']),
    newCallId: () => 'inv',
  })
}

const complete = (id: string, lease: string, more: Partial<CompleteItem> = {}): NodeItem => ({
  op: 'complete',
  execution: 'exe',
  node: id,
  lease,
  result: { kind: 'succeeded', output: '{"text":"x"}', ports: ['text'] },
  usage: null,
  measured: { durationMs: 1, remoteMs: null },
  ...more,
})
const claim = (id: string, lease: string, attempt = 1): ClaimItem => ({
  op: 'claim',
  execution: 'exe',
  node: id,
  lease,
  instance: 'ins',
  attempt,
})
const first = (id: string, lease: string, more: Partial<ClaimItem> = {}): NodeItem => ({
  ...claim(id, lease),
  isFirst: true,
  ...more,
})
const failed: CompleteItem['result'] = { kind: 'failed', error: '{"code":"provider_failed"}' }
const statesOf = (change: ExecutionChange | null) =>
  [...(change?.nodes ?? [])].map(([ordinal, { state }]) => [ordinal, state])

describe('deciding a batch of items of one execution', () => {
  test('ends nodes before it starts others, regardless of arrival order (R4)', () => {
    const { outcomes, change } = decide(
      chain(1),
      [ended, running('a'), node()],
      [claim('out', 'b'), complete('t0', 'a')],
    )
    expect(outcomes).toEqual([{ kind: 'claimed', ordinal: 2, remainingMs: 1_000 }, { kind: 'completed' }])
    expect(statesOf(change)).toEqual([
      [1, 'Succeeded'],
      [2, 'Running'],
    ])
  })

  test('applies all results before it decides which nodes are ready: two siblings in one batch make their successor ready (R4)', () => {
    const items = [complete('c0', 'a', { usage }), complete('c1', 'b', { usage })]
    const nodes = [ended, running('a', { reservation: 'r0' }), running('b', { reservation: 'r1' }), node(), node()]
    const { change } = decide(fan(['p', 'p']), nodes, items)
    expect(statesOf(change)).toEqual([
      [1, 'Succeeded'],
      [2, 'Succeeded'],
      [3, 'Ready'],
    ])
    expect(change?.closings.map(({ reservation, usage: used }) => [reservation, used])).toEqual([
      ['r0', usage],
      ['r1', usage],
    ])
    expect(change?.seq).toBe(3)
  })

  test('ends the execution with its last node, and ignores later items (R6, R7)', () => {
    const { change } = decide(chain(0), [ended, running('a')], [complete('out', 'a')])
    expect(change).toMatchObject({ status: 'Succeeded', output: '{"text":"x"}', seq: 3 })
    const over = decide(
      chain(0),
      [ended, ended],
      [claim('out', 'b'), complete('out', 'c'), { op: 'overdue', execution: 'exe' }],
      {
        status: 'Succeeded',
        deadlineMs: NOW - 1,
      },
    )
    expect(over).toEqual({
      outcomes: [{ kind: 'nothing-to-do' }, { kind: 'fenced' }, { kind: 'nothing-to-do' }],
      change: null,
    })
  })

  test('records a failure and a success of one batch, fails the execution, and never starts its ready nodes (R5)', () => {
    const nodes = [ended, running('a'), running('b'), node({ state: 'Ready' }), node(), node()]
    const { change } = decide(fan(['p', 'p', 'p']), nodes, [
      complete('c1', 'b', { result: failed }),
      complete('c0', 'a'),
    ])
    expect(statesOf(change)).toEqual([
      [2, 'Failed'],
      [3, 'Pending'],
      [1, 'Succeeded'],
    ])
    expect(change).toMatchObject({
      status: 'Failed',
      seq: 4,
      error: failed.kind === 'failed' && failed.error,
      ending: false,
    })
  })

  test('closes the reservation of a lease, in whichever way the lease ends (R3)', () => {
    const held = (deaths = 0) => [ended, running('a', { reservation: 'r', call: 'inv', deaths }), node()]
    const variants: [NodeItem, Partial<ExecutionFacts>][] = [
      [complete('draft', 'a'), {}],
      [complete('draft', 'a', { result: failed }), {}],
      [complete('draft', 'a', { result: { kind: 'given-back' }, usage }), {}],
      [{ op: 'reclaim', execution: 'exe', node: 'draft', lease: 'a', instance: 'gone' }, {}],
      [
        { op: 'overdue', execution: 'exe' },
        { failing: true, deadlineMs: NOW },
      ],
    ]
    for (const deaths of [0, 4])
      for (const [item, execution] of variants) {
        const { change } = decide(oneCall('p'), held(deaths), [item], execution)
        expect(change?.nodes.get(1)?.state).not.toBe('Running')
        expect(change?.closings).toMatchObject([{ reservation: 'r', usage: null }])
      }
  })

  test('returns completed for a repeated result, and fenced for a result under a lost lease (R1, R2)', () => {
    const nodes = [
      ended,
      node({ state: 'Succeeded', lease: 'a', instance: 'ins', ports: ['text'] }),
      node({ state: 'Ready' }),
    ]
    const { outcomes, change } = decide(chain(1), nodes, [
      complete('t0', 'a'),
      complete('t0', 'b'),
      complete('unknown', 'a'),
    ])
    expect(outcomes).toEqual([{ kind: 'completed' }, { kind: 'fenced' }, { kind: 'fenced' }])
    expect(change).toBeNull()
  })

  test('gives an attempt after a death a new reservation id for the same call (R8)', () => {
    const { change } = decide(
      oneCall('p'),
      [ended, node({ state: 'Ready', attempt: 3, call: 'inv' }), node()],
      [claim('draft', 'a', 3)],
    )
    expect(change?.nodes.get(1)).toMatchObject({ call: 'inv', reservation: 'inv-3', attempt: 3 })
    const first = decide(oneCall('p'), [ended, node({ state: 'Ready' }), node()], [claim('draft', 'a')], {
      status: 'Admitted',
    })
    expect(first.change).toMatchObject({ status: 'Running', started: true, deadlineInMs: 300_000 })
    expect(first.change?.nodes.get(1)).toMatchObject({ call: 'inv', reservation: 'inv' })
  })

  test('gives running nodes a grace period past the execution’s deadline (R9)', () => {
    const nodes = [ended, running('a'), node()]
    const overdue: NodeItem = { op: 'overdue', execution: 'exe' }
    const first = decide(chain(1), nodes, [overdue], { deadlineMs: NOW })
    expect(first.change).toMatchObject({ status: 'Running', deadlineInMs: 15_000, ending: true })
    expect(first.change?.error).toContain('execution_timeout')
    const then = decide(chain(1), nodes, [overdue], { deadlineMs: NOW, failing: true })
    expect(then.change).toMatchObject({ status: 'Failed', error: null, seq: 3 })
    expect(decide(chain(1), nodes, [overdue]).change).toBeNull()
  })

  // spec: 8.2/r7
  test('starts nodes until the millisecond before the five-minute deadline, and then asks running nodes to end', () => {
    const [FIVE_MINUTES_MS, overdue] = [300_000, { op: 'overdue', execution: 'exe' } as const]
    const first = decide(chain(1), [ended, node({ state: 'Ready' }), node()], [claim('t0', 'a')], {
      status: 'Admitted',
    })
    expect(first.change).toMatchObject({ started: true, deadlineInMs: FIVE_MINUTES_MS })
    expect(first.outcomes).toMatchObject([{ kind: 'claimed', remainingMs: FIVE_MINUTES_MS }])

    const [lastMs, overMs] = [{ deadlineMs: NOW + 1 }, { deadlineMs: NOW }]
    const next = [ended, node({ state: 'Ready' }), node()]
    expect(decide(chain(1), next, [claim('t0', 'a')], lastMs).outcomes).toMatchObject([
      { kind: 'claimed', remainingMs: 1 },
    ])
    expect(decide(chain(1), next, [claim('t0', 'a')], overMs).outcomes).toEqual([{ kind: 'nothing-to-do' }])
    expect(decide(chain(1), [ended, running('a'), node()], [overdue], lastMs).change).toBeNull()
    expect(decide(chain(1), [ended, running('a'), node()], [overdue], overMs).change?.error).toContain(
      'execution_timeout',
    )
  })

  test('fails an execution whose output node was skipped [output_missing] (R6)', () => {
    const { change } = decide(chain(1), [ended, running('a'), node({ state: 'Skipped' })], [complete('t0', 'a')])
    expect(change?.status).toBe('Failed')
    expect(JSON.parse(change?.error ?? '{}')).toMatchObject({
      code: 'output_missing',
      message: expect.stringContaining('text') as string,
    })
  })
})

describe('canceling an execution (R11)', () => {
  const stop: NodeItem = { op: 'cancel', execution: 'exe', by: 'key' }

  test('starts no further node and gives running nodes a grace period [execution_cancelled]', () => {
    const nodes = [ended, running('a'), node({ state: 'Ready' }), node(), node()]
    const { outcomes, change } = decide(fan(['p', 'p']), nodes, [claim('c1', 'b'), stop], { deadlineMs: NOW + 90_000 })
    expect(outcomes).toEqual([{ kind: 'nothing-to-do', cancelled: 'key' }, { kind: 'cancelled' }])
    expect(change).toMatchObject({ status: 'Running', stoppedBy: 'key', deadlineInMs: 15_000, ending: true })
    expect(change?.error).toContain('execution_cancelled')
    expect(statesOf(change)).toEqual([[2, 'Pending']])
    expect(change).toMatchObject({ enqueues: true }) // its place in the queue became free
  })

  test('ends an execution without running nodes immediately, under the next progress number', () => {
    const { change } = decide(chain(1), [ended, node({ state: 'Ready' }), node()], [stop], { status: 'Admitted' })
    expect(change).toMatchObject({ status: 'Cancelled', seq: 2, ending: false })
  })

  test('ends as Cancelled once running nodes end: calls with usage are charged, the others released', () => {
    const nodes = [ended, running('a', { reservation: 'r0' }), running('b', { reservation: 'r1' }), node(), node()]
    const stopped = { failing: true, stoppedBy: 'user' } as const
    const items = [complete('c0', 'a', { usage }), complete('c1', 'b', { result: failed })]
    const { change } = decide(fan(['p', 'p']), nodes, items, stopped)
    expect(change).toMatchObject({ status: 'Cancelled', error: null, stoppedBy: 'user' })
    expect(change?.closings.map(({ reservation, usage: used }) => [reservation, used])).toEqual([
      ['r0', usage],
      ['r1', null],
    ])
  })

  test('fails nodes that still run after the grace period with the cancellation error', () => {
    const overdue: NodeItem = { op: 'overdue', execution: 'exe' }
    const stopped = { failing: true, stoppedBy: 'user', deadlineMs: NOW } as const
    const { change } = decide(chain(1), [ended, running('a'), node()], [overdue], stopped)
    expect(change).toMatchObject({ status: 'Cancelled' })
    expect(change?.nodes.get(1)).toMatchObject({ state: 'Failed', lease: null })
    expect(change?.nodes.get(1)?.error).toContain('execution_cancelled')
  })

  test('ends as Cancelled if the instance of the running node is dead', () => {
    const reclaim: NodeItem = { op: 'reclaim', execution: 'exe', node: 't0', lease: 'a', instance: 'dead' }
    const nodes = [ended, running('a', { instance: 'dead', reservation: 'r0' }), node()]
    const { change } = decide(chain(1), nodes, [reclaim], { failing: true, stoppedBy: 'key' })
    expect(change).toMatchObject({ status: 'Cancelled', closings: [{ reservation: 'r0', usage: null }] })
  })

  test('has no effect on an execution that has ended, ends in the same batch, or is already failing', () => {
    const last = decide(chain(0), [ended, running('a')], [stop, complete('out', 'a')])
    expect(last.outcomes).toEqual([{ kind: 'nothing-to-do' }, { kind: 'completed' }])
    expect(last.change).toMatchObject({ status: 'Succeeded', stoppedBy: null })
    const over = decide(chain(0), [ended, ended], [stop], { status: 'Succeeded' })
    expect(over).toEqual({ outcomes: [{ kind: 'nothing-to-do' }], change: null })
    const fails = decide(chain(1), [ended, running('a'), node()], [stop], { failing: true })
    expect(fails).toEqual({ outcomes: [{ kind: 'nothing-to-do' }], change: null })
    const again = decide(chain(1), [ended, running('a'), node()], [stop], { failing: true, stoppedBy: 'user' })
    expect(again).toEqual({ outcomes: [{ kind: 'nothing-to-do' }], change: null })
  })
})

describe('completing a node with a lease for the next one', () => {
  const next = { lease: 'next', instance: 'ins' }
  const graph = chain(2)
  const nodes = [ended, running('mine'), node(), node()]
  const asked = complete('t0', 'mine', { next })

  test('leases the node that became ready to the same worker and enqueues nothing', () => {
    const { outcomes, change } = decide(graph, nodes, [asked])
    expect(outcomes).toEqual([{ kind: 'completed', next: { ordinal: 2, remainingMs: 1_000 } }])
    expect(statesOf(change)).toEqual([
      [1, 'Succeeded'],
      [2, 'Running'],
    ])
    expect(change).toMatchObject({ enqueues: false })
    expect(change!.nodes.get(2)).toMatchObject({ lease: 'next', instance: 'ins', attempt: 1 })
  })

  test('returns the same next node when repeated, until that node has ended', () => {
    const done = node({ state: 'Succeeded', lease: 'mine', instance: 'ins', ports: ['text'] })
    const again = decide(graph, [ended, done, running('next'), node()], [asked])
    expect(again).toMatchObject({ outcomes: [{ kind: 'completed', next: { ordinal: 2 } }], change: null })
    const over = decide(graph, [ended, done, { ...done, lease: 'next' }, node()], [asked])
    expect(over).toEqual({ outcomes: [{ kind: 'completed' }], change: null })
  })

  test('returns the leased next node when repeated, even if the execution has started to fail', () => {
    const done = node({ state: 'Succeeded', lease: 'mine', instance: 'ins', ports: ['text'] })
    const { outcomes } = decide(graph, [ended, done, running('next'), node()], [asked], { failing: true })
    expect(outcomes).toMatchObject([{ kind: 'completed', next: { ordinal: 2 } }])
  })

  test('leases no paid node, which is enqueued', () => {
    const { outcomes, change } = decide(
      oneCall('p'),
      [running('mine'), node(), node()],
      [complete('in', 'mine', { next })],
    )
    expect(outcomes).toEqual([{ kind: 'completed' }])
    expect(change!.nodes.get(1)).toMatchObject({ state: 'Ready', lease: null })
    expect(change).toMatchObject({ enqueues: true })
  })

  test('leases no next node without the lease, past the deadline, for a dead instance, or if nothing continues', () => {
    for (const [item, execution] of [
      [complete('t0', 'other', { next }), {}],
      [asked, { deadlineMs: NOW }],
      [complete('t0', 'mine', { next: { ...next, instance: 'dead' } }), {}],
      [complete('t0', 'mine', { next, result: failed }), {}],
      [complete('t0', 'mine', { next, result: { kind: 'given-back' } }), {}],
      [asked, { failing: true }],
    ] as const) {
      const { outcomes, change } = decide(graph, nodes, [item], execution)
      expect(outcomes[0]).not.toHaveProperty('next')
      expect([...(change?.nodes.values() ?? [])].filter(({ lease }) => lease === 'next')).toEqual([])
    }
  })

  test('enqueues a node that is given back instead of leasing it to the same worker', () => {
    const { change } = decide(graph, nodes, [complete('t0', 'mine', { next, result: { kind: 'given-back' } })])
    expect(statesOf(change)).toEqual([[1, 'Ready']])
    expect(change).toMatchObject({ enqueues: true })
  })

  test('leases the successor of two siblings in one batch to the first of them, and frees a queue place', () => {
    const nodes = [ended, running('a'), running('b'), node(), node()]
    const items = [
      complete('c0', 'a', { next }),
      complete('c1', 'b', { next: { ...next, lease: '0123456789abcdef0123456789abcdef' } }),
    ]
    const { outcomes, change } = decide(fan(['p', 'p']), nodes, items)
    expect(outcomes).toEqual([{ kind: 'completed', next: { ordinal: 3, remainingMs: 1_000 } }, { kind: 'completed' }])
    expect(change!.nodes.get(3)).toMatchObject({ state: 'Running', lease: 'next' })
    expect(change).toMatchObject({ enqueues: true })
  })

  test('leases nothing new to a repeated completion, because its sender may have stopped listening', () => {
    const before = [ended, { ...ended, lease: 'a' }, running('b'), node(), node()]
    const { outcomes, change } = decide(fan(['p', 'p']), before, [complete('c0', 'a', { next }), complete('c1', 'b')])
    expect(outcomes).toEqual([{ kind: 'completed', ready: [expect.anything()] }, expect.anything()])
    expect(change!.nodes.get(3)).toMatchObject({ state: 'Ready' })
  })

  test('leases a free one of several ready nodes and enqueues the others', () => {
    const { nodes, edges, ...contract } = fan(['p', 'p'])
    const free = { id: 'free', kind: 'template', template: '{{ text }}' }
    const wide = { ...contract, nodes: [...nodes, free], edges: [...edges, { from: 'in.text', to: 'free.text' }] }
    const before = [running('mine'), ...nodes.slice(1).map(() => node()), node()]
    const { outcomes, change } = decide(wide, before, [complete('in', 'mine', { next })])
    expect(outcomes).toMatchObject([{ kind: 'completed', next: { ordinal: nodes.length } }])
    expect(statesOf(change).filter(([, state]) => state === 'Ready')).toEqual([
      [1, 'Ready'],
      [2, 'Ready'],
    ])
    expect(change).toMatchObject({ enqueues: true })
  })
})

describe('granting ready nodes ahead (R13)', () => {
  const nodes = [ended, running('a'), node(), node()]

  test('a completion has the free nodes that it made ready, and leases none', () => {
    const { outcomes, change } = decide(chain(2), nodes, [complete('t0', 'a')])
    expect(outcomes).toEqual([{ kind: 'completed', ready: [{ ordinal: 2, remainingMs: 1_000, isUnrecorded: true }] }])
    expect(statesOf(change)).toContainEqual([2, 'Ready'])
    expect(change).toMatchObject({ enqueues: true })
  })

  test.each([
    [
      'it is chained to the node that became ready',
      chain(2),
      nodes,
      complete('t0', 'a', { next: { lease: 'next', instance: 'ins' } }),
    ],
    ['the node that became ready is paid', oneCall('p'), [running('a'), node(), node()], complete('in', 'a')],
    [
      'it is a repeat',
      chain(2),
      [ended, { ...ended, lease: 'a' }, node({ state: 'Ready' }), node()],
      complete('t0', 'a'),
    ],
  ])('grants nothing ahead if %s', (_, graph, facts, item) => {
    expect(decide(graph, facts, [item]).outcomes).toEqual([expect.not.objectContaining({ ready: expect.anything() })])
  })

  test('grants nothing ahead past the deadline', () => {
    const late = decide(chain(2), nodes, [complete('t0', 'a')], { deadlineMs: NOW })
    expect(late.outcomes).toEqual([{ kind: 'completed' }])
  })
})

describe('granting a free node without a record (R12)', () => {
  const ready = node({ state: 'Ready' })
  const granted = { kind: 'claimed', ordinal: 1, remainingMs: 1_000, isUnrecorded: true }
  const result = (lease: string, more: Partial<CompleteItem> = {}) =>
    complete('t0', lease, { instance: 'ins', ...more })

  test('the first delivery of its job writes nothing, and a later one does', () => {
    expect(decide(chain(1), [ended, ready, node()], [first('t0', 'a')])).toEqual({ outcomes: [granted], change: null })
    const again = decide(chain(1), [ended, ready, node()], [claim('t0', 'b')])
    expect(again.outcomes).toEqual([{ kind: 'claimed', ordinal: 1, remainingMs: 1_000 }])
    expect(statesOf(again.change)).toEqual([[1, 'Running']])
  })

  test('the first result ends it under its lease; a repeat gets the same outcome, and another lease is fenced', () => {
    const { outcomes, change } = decide(chain(1), [ended, ready, node()], [result('a'), result('b')])
    expect(outcomes).toMatchObject([{ kind: 'completed' }, { kind: 'fenced' }])
    expect(change!.nodes.get(1)).toMatchObject({ state: 'Succeeded', lease: 'a', instance: 'ins', attempt: 1 })
    expect(statesOf(change)).toContainEqual([2, 'Ready'])
    const nodes = [ended, { ...ended, lease: 'a' }, ready]
    expect(decide(chain(1), nodes, [result('a'), result('b')])).toEqual({
      outcomes: [{ kind: 'completed' }, { kind: 'fenced' }],
      change: null,
    })
  })

  test('its result starts the execution, whose five minutes count from when the worker began', () => {
    const admitted = { status: 'Admitted' as const, deadlineMs: NOW + 900_000 }
    const nodes = [ended, ready, node()]
    const five = { ...granted, remainingMs: 300_000 }
    expect(decide(chain(1), nodes, [first('t0', 'a')], admitted)).toEqual({ outcomes: [five], change: null })
    const measured = { durationMs: 1_000, remoteMs: null }
    const { change } = decide(chain(1), nodes, [result('a', { measured })], admitted)
    expect(change).toMatchObject({ status: 'Running', started: true, deadlineInMs: 299_000 })
  })

  test('shortly before an unclaimed execution would fail, the claim is recorded and begins it', () => {
    const admitted = (leftMs: number) => ({ status: 'Admitted' as const, deadlineMs: NOW + leftMs })
    const nodes = [ended, ready, node()]
    expect(decide(chain(1), nodes, [first('t0', 'a')], admitted(15_001)).change).toBeNull()
    const { outcomes, change } = decide(chain(1), nodes, [first('t0', 'a')], admitted(15_000))
    expect(outcomes).toEqual([{ kind: 'claimed', ordinal: 1, remainingMs: 300_000 }])
    expect(change).toMatchObject({ status: 'Running', started: true, deadlineInMs: 300_000 })
  })

  test('a result that begins its execution counts, even as the time to claim a node ends', () => {
    const over = { status: 'Admitted' as const, deadlineMs: NOW }
    const next = { lease: 'next', instance: 'ins' }
    const items: NodeItem[] = [result('a', { next }), { op: 'overdue', execution: 'exe' }]
    const { outcomes, change } = decide(chain(1), [ended, ready, node()], items, over)
    expect(outcomes[0]).toEqual({ kind: 'completed', next: { ordinal: 2, remainingMs: 299_999 } })
    expect(change).toMatchObject({ status: 'Running', error: null, deadlineInMs: 299_999 })
  })

  test('its result may name a lease for a next node', () => {
    const next = { lease: 'next', instance: 'ins' }
    const { outcomes } = decide(chain(1), [ended, ready, node()], [result('a', { next })])
    expect(outcomes).toEqual([{ kind: 'completed', next: { ordinal: 2, remainingMs: 1_000 } }])
  })

  test.each([
    ['a paid node', oneCall('p'), [ended, ready, node()], 'draft'],
    ['a later attempt', chain(1), [ended, node({ state: 'Ready', attempt: 2 }), node()], 't0'],
  ] as const)('%s is recorded with its claim', (_what, graph, nodes, id) => {
    const { outcomes, change } = decide(graph, [...nodes], [first(id, 'a', { attempt: 2 })])
    expect(outcomes[0]).not.toHaveProperty('isUnrecorded')
    expect(statesOf(change)).toEqual([[1, 'Running']])
    const unclaimed = decide(graph, [...nodes], [complete(id, 'a', { instance: 'ins' })])
    expect(unclaimed).toEqual({ outcomes: [{ kind: 'fenced' }], change: null })
  })

  test('a claim for a later attempt shows that the facts are old, and is not granted from them', () => {
    const { outcomes, change } = decide(chain(1), [ended, ready, node()], [first('t0', 'a', { attempt: 2 })])
    expect(outcomes).toEqual([{ kind: 'claimed', ordinal: 1, remainingMs: 1_000 }])
    expect(change).not.toBeNull() // so it is decided again, because the execution has changed since
  })

  test.each([
    ['is running under another lease', [ended, running('b'), node()], {}, {}],
    ['belongs to an execution that is failing', [ended, node(), node()], { failing: true }, {}],
    ['was given back', [ended, ready, node()], {}, { result: { kind: 'given-back' as const } }],
    ['was run by an instance that has ended', [ended, ready, node()], {}, { instance: 'gone' }],
  ] as const)('the result of a node that %s is fenced', (_what, nodes, execution, more) => {
    const { outcomes, change } = decide(chain(1), [...nodes], [result('a', more)], execution)
    expect(outcomes).toEqual([{ kind: 'fenced' }])
    expect(change?.nodes.get(1)?.lease ?? null).toBe(null)
  })
})
