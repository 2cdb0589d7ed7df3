import fc from 'fast-check'
import { expect, test, inject } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { advance, isOver, type NodeState } from './advance.ts'
import { validFlow } from './generators.fixture.ts'
import { runInMemory } from './in-memory-run.fixture.ts'
import { buildPackage } from './package.ts'
import { planOf } from './plan.ts'
import { validateGraph } from './validate-graph.ts'

const order = fc.infiniteStream(fc.nat(1000))
const chooser = (numbers: fc.Stream<number>) => () => numbers.next().value as number

test('the generated graphs have no problems', () => {
  fc.assert(
    fc.property(validFlow({ maxSteps: 25 }), ({ graph, products }) => {
      expect(validateGraph(graph, products)).toEqual([])
    }),
    { numRuns: 500 * inject('propertyShare') },
  )
})

// spec: can/graphs
test('any valid flow ends with the same result regardless of the order in which its nodes complete', () => {
  let skipped = 0
  let joined = 0
  fc.assert(
    fc.property(validFlow({ maxSteps: 25 }), order, order, (flow, one, other) => {
      const first = runInMemory(flow, chooser(one))
      const second = runInMemory(flow, chooser(other))
      if (first.states.includes('Failed')) {
        // The node that fails first depends on the order, but the execution fails in any order.
        expect(second.states).toContain('Failed')
        return
      }
      expect({ ...second, begun: null }).toEqual({ ...first, begun: null })
      for (const state of first.states) expect(['Succeeded', 'Skipped']).toContain(state)
      expect(new Set(first.begun).size).toBe(first.begun.length)
      skipped += first.states.filter((state) => state === 'Skipped').length
      joined += flow.graph.nodes.filter(({ template }) => template === 'join {{ x }}').length
    }),
    { numRuns: 1000 * inject('propertyShare') },
  )
  expect(skipped).toBeGreaterThan(0)
  expect(joined).toBeGreaterThan(0)
})

test('a node starts only after its required inputs have a value, and at most one of several exclusive sources has one', () => {
  fc.assert(
    fc.property(validFlow(), order, (flow, numbers) => {
      const { begun, states, outputs } = runInMemory(flow, chooser(numbers))
      const plan = planOf(buildPackage(flow.graph).package)
      for (const ordinal of begun)
        for (const { sources, required, collects } of plan.nodes[ordinal]!.inputs) {
          const ended = sources.filter((source) => states[source.ordinal] === 'Succeeded')
          if (required && plan.nodes[ordinal]!.kind !== 'output') expect(ended.length).toBeGreaterThan(0)
          const there = sources.filter(({ ordinal, port }) => Object.hasOwn(outputs[ordinal] ?? {}, port))
          if (!collects) expect(there.length).toBeLessThanOrEqual(1)
        }
    }),
  )
})

const text = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
const optional = { ...text, required: [] }

function planFor(graph: Partial<Graph>) {
  return planOf(buildPackage({ input: text, output: text, nodes: [], edges: [], ...graph }).package)
}
const states = (...rows: [NodeState['state'], ...string[]][]): NodeState[] =>
  rows.map(([state, ...ports]) => ({ state, ports }))

const forked = planFor({
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'b', kind: 'branch', condition: 'size(text) > 3' },
    { id: 'yes', kind: 'product.chat', product: 'p' },
    { id: 'then', kind: 'template', template: '{{ text }}' },
    { id: 'out', kind: 'output' },
  ],
  edges: [
    { from: 'in.text', to: 'b.text' },
    { from: 'b.true.text', to: 'yes.prompt' },
    { from: 'yes.text', to: 'then.text' },
    { from: 'then.text', to: 'out.text' },
    { from: 'b.false.text', to: 'out.text' },
  ],
})

test('a plan lists the dependants of each node by ordinal', () => {
  expect(forked).toMatchObject({ input: 0, output: 4, paidNodes: 1 })
  expect(forked.nodes[2]).toMatchObject({ id: 'yes', paid: true, product: 'p', dependants: [3] })
  expect(forked.nodes[1]!.dependants).toEqual([2, 4])
  expect(forked.nodes[4]!.sources).toEqual({
    text: [
      ['then', 'text'],
      ['b', 'false.text'],
    ],
  })
})

test('skips all nodes behind the branch side not taken at once', () => {
  expect(advance(forked, states(['Succeeded', 'text'], ['Pending'], ['Pending'], ['Pending'], ['Pending']))).toEqual({
    ready: [1],
    skipped: [],
  })
  expect(
    advance(forked, states(['Succeeded', 'text'], ['Succeeded', 'false.text'], ['Pending'], ['Pending'], ['Pending'])),
  ).toEqual({ ready: [4], skipped: [2, 3] })
  expect(
    advance(forked, states(['Succeeded', 'text'], ['Succeeded', 'true.text'], ['Pending'], ['Pending'], ['Pending'])),
  ).toEqual({ ready: [2], skipped: [] })
  expect(advance(forked, states(['Succeeded', 'text'], ['Running'], ['Pending'], ['Pending'], ['Pending']))).toEqual({
    ready: [],
    skipped: [],
  })
})

test('starts no node after a failure, and the execution is over once none runs', () => {
  const failed = states(['Succeeded', 'text'], ['Failed'], ['Running'], ['Pending'], ['Ready'])
  expect(advance(forked, failed)).toEqual({ ready: [], skipped: [] })
  expect(isOver(forked, failed)).toBe(false)
  expect(isOver(forked, states(['Succeeded', 'text'], ['Failed'], ['Succeeded'], ['Pending'], ['Ready']))).toBe(true)
  expect(isOver(forked, states(['Succeeded'], ['Succeeded'], ['Skipped'], ['Skipped'], ['Ready']))).toBe(false)
  expect(isOver(forked, states(['Succeeded'], ['Succeeded'], ['Skipped'], ['Skipped'], ['Succeeded']))).toBe(true)
})

test('a node waits for an optional input that may still arrive, and runs without one that will not', () => {
  const plan = planFor({
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'b', kind: 'branch', condition: 'size(text) > 3' },
      { id: 'chat', kind: 'product.chat', product: 'p' },
      { id: 'out', kind: 'output' },
    ],
    edges: [
      { from: 'in.text', to: 'b.text' },
      { from: 'in.text', to: 'chat.prompt' },
      { from: 'b.true.text', to: 'chat.system' },
      { from: 'chat.text', to: 'out.text' },
    ],
  })
  expect(advance(plan, states(['Succeeded', 'text'], ['Running'], ['Pending'], ['Pending'])).ready).toEqual([])
  for (const side of ['true', 'false'])
    expect(
      advance(plan, states(['Succeeded', 'text'], ['Succeeded', `${side}.text`], ['Pending'], ['Pending'])),
    ).toEqual({ ready: [2], skipped: [] })
})

test('the output node runs even if no value arrives', () => {
  const plan = planFor({
    output: optional,
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'b', kind: 'branch', condition: 'size(text) > 3' },
      { id: 'out', kind: 'output' },
    ],
    edges: [
      { from: 'in.text', to: 'b.text' },
      { from: 'b.true.text', to: 'out.text' },
    ],
  })
  expect(advance(plan, states(['Succeeded', 'text'], ['Succeeded', 'false.text'], ['Pending']))).toEqual({
    ready: [2],
    skipped: [],
  })
})
