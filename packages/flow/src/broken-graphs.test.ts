import fc from 'fast-check'
import { expect, test, inject } from 'vitest'
import { graph as graphShape, type Graph } from '@gateway/contracts/graph'
import { validFlow, type ValidFlow } from './generators.fixture.ts'
import { runInMemory } from './in-memory-run.fixture.ts'
import { validateGraph } from './validate-graph.ts'

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    'in',
    'out',
    'n1',
    'branch',
    'template',
    'product.chat',
    'constant',
    '{{ x }}',
    'x',
    '__proto__',
    'constructor',
  ),
)
interface Change {
  what: number
  at: number
  other: number
  value: unknown
}
const change = fc.record<Change>({ what: fc.nat(7), at: fc.nat(999), other: fc.nat(999), value: junk })

/** A value may be an object with a `toString` that is none. */
const wordOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** What an author's slip or an attacker may do to a graph. */
function changed(graph: Graph, { what, at, other, value }: Change): void {
  const node = graph.nodes[at % Math.max(1, graph.nodes.length)]
  const edge = graph.edges[at % Math.max(1, graph.edges.length)]
  const another = graph.edges[other % Math.max(1, graph.edges.length)]
  const fields = ['template', 'expression', 'condition', 'value', 'product', 'params', 'type', 'x']
  if (what === 0) graph.nodes.splice(at % Math.max(1, graph.nodes.length), 1)
  else if (what === 1) graph.edges.splice(at % Math.max(1, graph.edges.length), 1)
  else if (what === 2 && node) node[fields[other % fields.length]!] = value
  else if (what === 3 && node) node.kind = wordOf(value)
  else if (what === 4 && node) node.id = wordOf(value)
  else if (what === 5 && edge && another) edge.from = another.from
  else if (what === 6 && edge && another) edge.to = another.to
  else graph.input.properties[`f${other % 3}`] = { type: 'string', enum: [value] }
}

test('whatever is done to a graph, its problems are told, and one without any runs to its end', () => {
  let sound = 0
  let broken = 0
  fc.assert(
    fc.property(validFlow(), fc.array(change, { minLength: 1, maxLength: 3 }), (flow, changes) => {
      const graph = structuredClone(flow.graph)
      for (const each of changes) changed(graph, each)
      if (!graphShape.safeParse(graph).success) return
      const problems = validateGraph(graph, flow.products)
      if (problems.length > 0) {
        broken++
        for (const { message, resolution } of problems)
          expect([message.length > 0, resolution.length > 0]).toEqual([true, true])
        return
      }
      sound++
      const ran: ValidFlow = { ...flow, graph }
      const { states } = runInMemory(ran, () => 0)
      expect(states).not.toContain('Running')
    }),
    { numRuns: 1500 * inject('propertyShare') },
  )
  // About one of ten; of few graphs by chance far fewer.
  expect(sound).toBeGreaterThan(30 * inject('propertyShare'))
  expect(broken).toBeGreaterThan(100 * inject('propertyShare'))
})

test('a graph of anything at all is a list of problems', () => {
  const side = fc.record({
    type: fc.constant('object' as const),
    properties: fc.dictionary(fc.string(), fc.record({ type: fc.string(), enum: fc.constant(undefined) })),
    required: fc.array(fc.string()),
  })
  const kind = fc.constantFrom(
    'input',
    'output',
    'template',
    'expression',
    'branch',
    'constant',
    'product.chat',
    'product.image',
    'other',
  )
  const nodes = fc.array(
    fc.record(
      {
        id: fc.string(),
        kind,
        template: junk,
        expression: junk,
        condition: junk,
        value: junk,
        product: junk,
        params: junk,
        type: junk,
      },
      { requiredKeys: ['id', 'kind'] },
    ),
  )
  const edges = fc.array(fc.record({ from: fc.string(), to: fc.string() }))
  fc.assert(
    fc.property(fc.record({ input: side, output: side, nodes, edges }), (graph) => {
      expect(Array.isArray(validateGraph(graph as Graph, new Map()))).toBe(true)
    }),
    { numRuns: 1000 * inject('propertyShare') },
  )
})
