import type { ExecutionRecord, ProgressLine } from '@gateway/api/execution'
import type { Graph } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'
import type { RunState, ShownNode } from './run-store.ts'

/** What is shown once an execution of that graph was begun, before its first line. */
export function begun(graph: Graph): RunState {
  return { graph, nodes: withRunning(graph, new Map()), executionId: null, isRunning: true, ended: null }
}

/** What is shown after another line of its progress. The last one has the whole record. */
export function applyLine(state: RunState, line: ProgressLine, graph: Graph): RunState {
  if (line.kind === 'admitted') return { ...state, executionId: line.executionId }
  if (line.kind === 'node') {
    const ended = [...state.nodes].filter(([, { status }]) => status !== 'Running' && status !== 'Pending')
    return { ...state, nodes: withRunning(graph, new Map<string, ShownNode>([...ended, [line.node.id, line.node]])) }
  }
  return shown(line.execution, graph)
}

/** What is shown of an execution of that graph that has ended. */
export function shown(execution: ExecutionRecord, graph: Graph): RunState {
  return {
    graph,
    executionId: execution.id,
    isRunning: false,
    ended: execution,
    nodes: new Map(execution.nodes.map((node) => [node.id, node])),
  }
}

/** Lines tell of nodes that have ended: one runs once all that it takes values of has. */
function withRunning(graph: Graph, ended: ReadonlyMap<string, ShownNode>): Map<string, ShownNode> {
  return new Map(
    graph.nodes.map(({ id }) => {
      const before = graph.edges.filter(({ to }) => endOf(to).node === id).map(({ from }) => endOf(from).node)
      const status = before.every((node) => ended.has(node)) ? 'Running' : 'Pending'
      return [
        id,
        ended.get(id) ?? { status, durationMs: null, chargedMicro: 0, error: null, output: null, takenOver: false },
      ]
    }),
  )
}
