import fc from 'fast-check'
import { graph as graphShape, type Graph } from '@gateway/api/graph'
import { validFlow, type ValidFlow } from './generators.fixture.ts'

/** Arbitrary value for a field. */
export const junk = fc.oneof(
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

/** Avoids `String(value)`: a value may be an object whose `toString` is not a function. */
const wordOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** Applies a mutation, as by mistake or by an attacker. */
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

/** Mutated flows. Most have problems and some have none; each still has the shape of a graph. */
export const changedFlow: fc.Arbitrary<ValidFlow> = fc
  .record({ flow: validFlow(), changes: fc.array(change, { minLength: 1, maxLength: 3 }) })
  .map(({ flow, changes }) => {
    const graph = structuredClone(flow.graph)
    for (const each of changes) changed(graph, each)
    return { ...flow, graph }
  })
  .filter(({ graph }) => graphShape.safeParse(graph).success)
