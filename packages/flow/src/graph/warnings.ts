import type { Graph, GraphProblem } from '@gateway/api/graph'
import { readableFields } from '../contract/read-side.ts'
import { layoutOf, type Layout, type Placed } from './layout.ts'

/** Codes of the warnings of a graph. */
export type WarningCode = 'result_unused' | 'node_unused' | 'input_unused' | 'optional_to_output'

/**
 * Returns what is allowed in a graph and rarely meant (flows §2.7): a paid node whose result nothing uses, a node that
 * leads nowhere, an input that no node reads, and an optional input that a required output needs. A graph with warnings
 * may be activated, and its nodes run and are charged.
 */
export function graphWarnings(graph: Graph): GraphProblem[] {
  const layout = layoutOf(graph)
  const useful = nodesThatLeadToOutput(layout)
  const nodes = layout.placed.filter((placed) => placed !== null)
  return [
    ...nodes.filter((node) => !useful.has(node) && node.kind.kind !== 'input').map(unusedNode),
    ...unreadInputs(graph, layout),
    ...optionalToOutput(graph, layout),
  ]
}

function nodesThatLeadToOutput({ placed, wires }: Layout): Set<Placed> {
  const useful = new Set(placed.filter((node) => node?.kind.kind === 'output') as Placed[])
  for (const node of useful) for (const { from, to } of wires) if (to === node) useful.add(from) // grows while it is read
  return useful
}

function unusedNode({ id, kind }: Placed): GraphProblem {
  if (kind.calls === null)
    return warning('node_unused', id, null, `The node ${id} does not lead to the output.`, 'Wire it, or remove it.')
  return warning(
    'result_unused',
    id,
    null,
    `The node ${id} is charged in each execution, and its result does not lead to the output.`,
    'Wire its result, or remove it.',
  )
}

function unreadInputs(graph: Graph, { placed, wires }: Layout): GraphProblem[] {
  const input = placed.find((node) => node?.kind.kind === 'input')
  if (!input) return []
  const read = new Set(wires.flatMap(({ from, port }) => (from === input ? [port] : [])))
  return readableFields(graph.input)
    .filter(({ name }) => !read.has(name))
    .map(({ name }) =>
      warning(
        'input_unused',
        input.id,
        name,
        `No node reads the input ${name}.`,
        `Wire ${input.id}.${name}, or remove it.`,
      ),
    )
}

function optionalToOutput(graph: Graph, { wires }: Layout): GraphProblem[] {
  const optional = new Set(readableFields(graph.input).flatMap(({ name, required }) => (required ? [] : [name])))
  return wires
    .filter(
      ({ from, port, to, toPort }) =>
        from.kind.kind === 'input' &&
        optional.has(port) &&
        to.kind.kind === 'output' &&
        to.look.inputs.get(toPort)!.required,
    )
    .map(({ port, to, toPort }) =>
      warning(
        'optional_to_output',
        to.id,
        toPort,
        `The output ${toPort} is required, and the input ${port} may be left out: the execution then fails after its nodes are charged.`,
        'Make the field required, or the output optional.',
      ),
    )
}

function warning(
  code: WarningCode,
  node: string | null,
  port: string | null,
  message: string,
  resolution: string,
): GraphProblem {
  return { code, node, port, message, resolution }
}
