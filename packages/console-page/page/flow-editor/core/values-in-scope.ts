import type { Graph } from '@gateway/api/graph'
import type { PortType } from '@gateway/flow/node-kinds'
import type { CanvasModel } from './canvas-model.ts'
import { connect, disconnect, setField } from './node-commands.ts'
import { nodeOf } from './node-keys.ts'
import { edgeKey } from './edges.ts'

/** Value that an expression of a node can use: an output of a node that does not depend on this one. */
export interface ValueInScope {
  /** `node.port`. */
  end: string
  type: PortType | 'any'
  /** Name in the expression: the current one, or a suggestion. */
  name: string
  isUsed: boolean
}

export function valuesInScope({ nodes, edges, graph }: CanvasModel, key: string): ValueInScope[] {
  const later = laterThan(key, edges)
  const wired = new Map(edges.filter(({ to }) => to.key === key).map(({ edge, to }) => [edge.from, to.port]))
  const taken = new Set(wired.values())
  const own = nodeOf(graph, key)
  return nodes
    .filter((node) => !later.has(node.key) && node.key === node.node.id && node.node !== own)
    .flatMap(({ node, outputs }) =>
      outputs
        .filter(({ isMissing }) => !isMissing)
        .map(({ name, type }) => {
          const end = `${node.id}.${name}`
          const used = wired.get(end)
          return { end, type, name: used ?? freeName(node.id, name, taken), isUsed: used !== undefined }
        }),
    )
}

/**
 * Sets the text of an expression that uses a value and connects the value to the resulting port, in one history step.
 */
export function insertValue(
  graph: Graph,
  key: string,
  { field, text, end, name }: { field: string; text: string; end: string; name: string },
): Graph {
  const written = setField(graph, key, field, text)
  const id = nodeOf(graph, key)?.id ?? key
  const edge = { from: end, to: `${id}.${name}` }
  const others = written.edges.filter(({ to, from }) => to === edge.to && from !== end).map(edgeKey)
  return connect(disconnect(written, new Set(others)), edge)
}

/** Valid CEL name: the port name, prefixed with the node ID if it is taken. */
function freeName(id: string, port: string, taken: ReadonlySet<string>): string {
  const plain = port.slice(port.lastIndexOf('.') + 1).replaceAll(/\W/g, '_')
  const wanted = [plain, `${id}_${plain}`.replaceAll(/\W/g, '_')].map((name) => name.replace(/^(?=\d)/, '_'))
  return wanted.find((name) => !taken.has(name)) ?? wanted[1]!
}

function laterThan(key: string, edges: CanvasModel['edges']): Set<string> {
  const later = new Set([key])
  for (const at of later) for (const { from, to } of edges) if (from.key === at) later.add(to.key)
  return later
}
