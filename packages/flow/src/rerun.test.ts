import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import type { NodeState } from './advance.ts'
import { validFlow } from './generators.fixture.ts'
import { runInMemory, runOn } from './in-memory-run.fixture.ts'
import { buildPackage } from './package.ts'
import { planOf, type Plan } from './plan.ts'
import { rerunFrom, type PlannedFlow, type Rerun } from './rerun.ts'

const order = fc.infiniteStream(fc.nat(1000))
const chooser = (numbers: fc.Stream<number>) => () => numbers.next().value as number

test('a rerun of any flow ends like the first execution, and runs exactly the nodes below the start or without a result', () => {
  let [whole, single, spared] = [0, 0, 0]
  fc.assert(
    fc.property(validFlow({ maxSteps: 25 }), order, order, fc.nat(999), fc.nat(999), (flow, one, other, at, lost) => {
      const first = runInMemory(flow, chooser(one))
      if (first.states.includes('Failed')) return
      const planned = plannedFlow(flow.graph)
      const { plan } = planned
      const chosen = at % plan.nodes.length
      const broken = lost % 3 === 0 ? below(plan, [1 + (lost % (plan.nodes.length - 1))]) : new Set<number>()
      const states = first.states.map((state, ordinal): NodeState =>
        broken.has(ordinal)
          ? { state: 'Pending', ports: [] }
          : { state, ports: Object.keys(first.outputs[ordinal] ?? {}) },
      )
      const rerun = beginning(rerunFrom(planned, { ...planned, states }, plan.nodes[chosen]!.id))
      const rerunNodes = below(plan, [chosen, ...broken])
      expect(new Set(rerun.takenOver.keys())).toEqual(complement(plan, rerunNodes))
      const outputs = first.outputs.map((output, n) => (rerun.states[n]!.state === 'Succeeded' ? output : null))
      const second = runOn(planned.package, { states: rerun.states, outputs }, chooser(other))
      expect({ ...second, begun: null }).toEqual({ ...first, begun: null })
      const expected = first.begun.filter((ordinal) => rerunNodes.has(ordinal))
      expect(new Set(second.begun)).toEqual(new Set(expected))
      expect(second.begun).toHaveLength(expected.length)
      if (chosen === plan.input) whole++
      if (expected.length === 1) single++
      spared += first.begun.filter((ordinal) => plan.nodes[ordinal]!.paid && !rerunNodes.has(ordinal)).length
    }),
    { numRuns: 1000 * inject('propertyShare') },
  )
  for (const seen of [whole, single, spared]) expect(seen).toBeGreaterThan(0)
})

const text = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }

/** in → ask → draft → trim → out, plus a note node whose output is not used. */
const graph: Graph = {
  input: text,
  output: text,
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'ask', kind: 'template', template: 'Write about {{ text }}' },
    { id: 'draft', kind: 'product.chat', product: 'acme/swift' },
    { id: 'note', kind: 'product.chat', product: 'acme/deep' },
    { id: 'trim', kind: 'template', template: '{{ text }}!' },
    { id: 'out', kind: 'output' },
  ],
  edges: [
    { from: 'in.text', to: 'ask.text' },
    { from: 'ask.text', to: 'draft.prompt' },
    { from: 'ask.text', to: 'note.prompt' },
    { from: 'draft.text', to: 'trim.text' },
    { from: 'trim.text', to: 'out.text' },
  ],
}
const ended: NodeState[] = graph.nodes.map(() => ({ state: 'Succeeded', ports: ['text'] }))
const earlier = { ...plannedFlow(graph), states: ended }
const changed = (id: string, to: object): Graph => ({
  ...graph,
  nodes: graph.nodes.map((node) => (node.id === id ? { ...node, ...to } : node)),
})

describe('a rerun of the same revision', () => {
  test('from a node of an ended execution reuses all nodes that are not below it', () => {
    const { takenOver, states } = beginning(rerunFrom(earlier, earlier, 'trim'))
    expect([...takenOver.keys()]).toEqual([0, 1, 2, 3])
    expect(states.map(({ state }) => state)).toEqual([...Array<string>(4).fill('Succeeded'), 'Ready', 'Pending'])
  })

  test('of a failed execution also runs the nodes that failed or never ended', () => {
    const states = ended.with(2, { state: 'Failed', ports: [] }).with(4, { state: 'Pending', ports: [] })
    const rerun = beginning(rerunFrom(earlier, { ...earlier, states }, 'note'))
    expect([...rerun.takenOver.keys()]).toEqual([0, 1])
    expect(rerun.states.map(({ state }) => state)).toEqual([
      'Succeeded',
      'Succeeded',
      'Ready',
      'Ready',
      'Pending',
      'Pending',
    ])
  })

  test('from the input node runs everything with the same input, and from an unknown node is refused', () => {
    const { takenOver, states } = beginning(rerunFrom(earlier, earlier, 'in'))
    expect(takenOver.size).toBe(0)
    expect(states.map(({ state }) => state).slice(0, 3)).toEqual(['Succeeded', 'Ready', 'Pending'])
    expect(rerunFrom(earlier, earlier, 'other')).toEqual({ kind: 'unknown-node' })
  })
})

describe('a rerun with another revision', () => {
  test('allows changes from the start node down and to titles and positions, and reuses the rest', () => {
    const trimmed = changed('trim', { template: 'Now {{ text }}' })
    const moved = { ...trimmed, nodes: [{ id: 'tone', kind: 'constant', value: 'dry' }, ...trimmed.nodes] }
    const titled = {
      ...moved,
      nodes: moved.nodes.map((node) => ({ ...node, title: 'Better', position: { x: 1, y: 2 } })),
      input: { ...text, properties: { text: { type: 'string', title: 'The topic' } } },
    }
    const { takenOver, states } = beginning(rerunFrom(plannedFlow(titled), earlier, 'trim'))
    expect([...takenOver]).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 3],
    ])
    expect(states[0]!.state).toBe('Ready') // a new node runs
  })

  test('names nodes that differ elsewhere in configuration, edges or contract', () => {
    const differs = (other: Graph, from: string) => rerunFrom(plannedFlow(other), earlier, from)
    expect(differs(changed('note', { params: { max_tokens: 9 } }), 'trim')).toEqual({
      kind: 'differs',
      nodes: ['note'],
    })
    expect(differs(changed('draft', { product: 'acme/deep' }), 'trim')).toEqual({ kind: 'differs', nodes: ['draft'] })
    const rewired = graph.edges.map((edge) => (edge.to === 'note.prompt' ? { ...edge, from: 'in.text' } : edge))
    expect(differs({ ...graph, edges: rewired }, 'draft')).toEqual({ kind: 'differs', nodes: ['note'] })
    const optional = { ...graph, input: { ...text, required: [] } }
    expect(differs(optional, 'trim')).toEqual({ kind: 'differs', nodes: ['in'] })
    expect(differs(optional, 'in')).toEqual({ kind: 'differs', nodes: ['in'] })
    const output = { ...graph, output: { ...text, required: [] } }
    expect(differs(output, 'note')).toEqual({ kind: 'differs', nodes: ['out'] })
    expect(differs(output, 'trim')).toMatchObject({ kind: 'rerun' })
  })
})

function plannedFlow(of: Graph): PlannedFlow {
  const { package: flow } = buildPackage(of)
  return { package: flow, plan: planOf(flow) }
}

function beginning(rerun: Rerun): Extract<Rerun, { kind: 'rerun' }> {
  if (rerun.kind !== 'rerun') throw new Error(JSON.stringify(rerun))
  return rerun
}

/** Ordinals below the given ones, derived from the edges independently of the code under test. */
function below(plan: Plan, ordinals: number[]): Set<number> {
  const found = new Set(ordinals)
  for (let size = -1; size !== found.size;) {
    size = found.size
    for (const { ordinal, inputs } of plan.nodes)
      if (inputs.some(({ sources }) => sources.some((source) => found.has(source.ordinal)))) found.add(ordinal)
  }
  return found
}

function complement(plan: Plan, ordinals: Set<number>): Set<number> {
  return new Set(plan.nodes.map(({ ordinal }) => ordinal).filter((ordinal) => !ordinals.has(ordinal)))
}
