import canonicalize from 'canonicalize'
import type { FlowPackage, Graph } from '@gateway/api/graph'
import { readContractSide } from './contract.ts'
import { type Layout, layoutOf, type Placed, withoutNotes } from './graph/layout.ts'
import { typingOf, wantedTypes } from './graph/typing.ts'
import { productOf } from './node-kinds.ts'

/** Version of how packages are run. A package names the version it was built for. */
export const runnerVersion = '2'

/**
 * Returns the immutable package of a graph without problems, and its canonical JSON (RFC 8785): the same for the same
 * graph in any key order. In the packaged graph each expression has its type, which is enforced at run time. Titles,
 * descriptions, positions and sticky notes are omitted.
 */
export function packageText(graph: Graph): { package: FlowPackage; text: string } {
  const layout = layoutOf(graph)
  const products = graph.nodes.map(productOf).filter((product) => product !== null)
  const { notes: _, ...executed } = graph
  const built: FlowPackage = {
    runnerVersion,
    graph: {
      ...executed,
      nodes: graph.nodes.map((node, ordinal) => ({ ...withoutNotes(node), ...typeOf(layout, ordinal) })),
    },
    input: sideOf(graph.input),
    output: sideOf(graph.output),
    manifest: [...new Set(products)].toSorted(),
  }
  const text = canonicalize(built)
  if (text === undefined) throw new Error('a package has no canonical JSON')
  return { package: built, text }
}

function sideOf(side: Graph['input']) {
  const read = readContractSide(side)
  if (read.problems) throw new Error(`a package is built of a graph with problems: ${read.problems[0]!.message}`)
  return read.side
}

function typeOf(layout: Layout, ordinal: number): { type?: string } {
  const node = layout.placed[ordinal]
  if (node?.kind.kind !== 'expression') return {}
  const type = expressionType(layout, node)
  return type === null ? {} : { type }
}

/** Returns the type of an expression; null if nothing requires a type, so any value is accepted. */
function expressionType(layout: Layout, node: Placed): string | null {
  const known = typingOf(layout).typeOf({ from: node, port: 'value', to: node, toPort: '' })
  if (known !== 'unknown') return known
  const [wanted] = wantedTypes(layout, node, 'value')
  return wanted ?? null
}
