import type { GraphProblem } from '@gateway/api/graph'
import type { Layout, Placed } from '@gateway/flow/layout'
import type { PortType } from '@gateway/flow/node-kinds'
import { typingOf } from '@gateway/flow/typing'

export interface CanvasPort {
  name: string
  /** `any` accepts any value; a connected port has the type of its value. */
  type: PortType | 'any'
  isRequired: boolean
  isWired: boolean
  /** An edge refers to the port, but the node does not have it. */
  isMissing: boolean
  problems: GraphProblem[]
}

interface WiredEdge {
  from: { port: string }
  to: { port: string }
  type: PortType
}

export function inputPorts(placed: Placed | null, edges: readonly WiredEdge[], problems: GraphProblem[]): CanvasPort[] {
  const known = new Map(placed?.look.inputs)
  const arriving = Map.groupBy(edges, ({ to }) => to.port)
  const names = new Set([...known.keys(), ...arriving.keys()])
  return [...names].map((name) => {
    const port = known.get(name)
    const [first] = arriving.get(name) ?? []
    return {
      name,
      type: port?.type === 'any' && first ? first.type : (port?.type ?? 'unknown'),
      isRequired: port?.required ?? false,
      isWired: first !== undefined,
      isMissing: port === undefined,
      problems: problems.filter((problem) => problem.port === name),
    }
  })
}

/** Output ports. A problem is attributed to an input port of the same name, if there is one. */
export function outputPorts(
  layout: Layout,
  placed: Placed | null,
  edges: readonly WiredEdge[],
  problems: GraphProblem[],
): CanvasPort[] {
  const known = new Set(placed?.look.outputs)
  const names = new Set([...known, ...edges.map(({ from }) => from.port)])
  const { typeOf } = typingOf(layout)
  return [...names].map((name) => ({
    name,
    type: placed ? typeOf({ from: placed, port: name, to: placed, toPort: '' }) : 'unknown',
    isRequired: placed?.look.mustLead?.includes(name) ?? false,
    isWired: edges.some(({ from }) => from.port === name),
    isMissing: !known.has(name),
    problems: placed?.look.inputs.has(name) ? [] : problems.filter((problem) => problem.port === name),
  }))
}
