import { createContext, useContext } from 'react'
import { createStore } from 'zustand/vanilla'
import type { ExecutionDetail, ExecutionRecord, NodeDetail, NodeRecord, ProgressLine } from '@gateway/api/execution'
import type { Graph } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'

/** Run state of a node. Progress lines contain only part of the node record. */
export type ShownNode = Pick<NodeRecord, 'status' | 'durationMs' | 'chargedMicro' | 'error' | 'output' | 'takenOver'> &
  Partial<Pick<NodeDetail, 'input' | 'attempts'>>

export interface RunState {
  /** Executed graph; null without an execution. */
  graph: Graph | null
  nodes: ReadonlyMap<string, ShownNode>
  executionId: string | null
  isRunning: boolean
  ended: ExecutionRecord | null
  /** The execution as it was opened from a list or an address; null once one started here is admitted. */
  opened: ExecutionDetail | null
  /** Inputs of an execution that the form takes over next. */
  taken: Record<string, unknown> | null
  /** Number of executions that were started here: one that is read late does not replace a newer one. */
  started: number
}

const shownNothing = { graph: null, nodes: new Map(), executionId: null, isRunning: false, ended: null, opened: null }
const nothing: RunState = { ...shownNothing, taken: null, started: 0 }

/** Opens a store for the execution shown on the canvas. */
export function openRun() {
  return createStore<RunState>()(() => nothing)
}
export type RunStore = ReturnType<typeof openRun>

const Run = createContext<RunStore>(openRun())
export const RunProvider = Run.Provider

export function useRunStore(): RunStore {
  return useContext(Run)
}

type Progress = Omit<RunState, 'opened' | 'taken' | 'started'>

/** Takes the execution off the canvas. */
export function showNothing(run: RunStore): void {
  run.setState(shownNothing)
}

/** Run state of a started execution, before the first progress line. */
export function begun(graph: Graph): Progress {
  return { graph, nodes: withRunning(graph, new Map()), executionId: null, isRunning: true, ended: null }
}

/** Run state after the next progress line. The last line contains the full record. */
export function applyLine(state: Progress, line: ProgressLine, graph: Graph): Progress {
  if (line.kind === 'admitted') return { ...state, executionId: line.executionId }
  if (line.kind === 'node') {
    const ended = [...state.nodes].filter(([, { status }]) => status !== 'Running' && status !== 'Pending')
    return { ...state, nodes: withRunning(graph, new Map<string, ShownNode>([...ended, [line.node.id, line.node]])) }
  }
  return shown(line.execution, graph)
}

/** Run state of an execution that has ended. */
export function shown(execution: ExecutionRecord, graph: Graph): Progress {
  return {
    graph,
    executionId: execution.id,
    isRunning: false,
    ended: execution,
    nodes: new Map(execution.nodes.map((node) => [node.id, node])),
  }
}

/** Progress lines only report nodes that have ended. A node is running if all its sources have ended. */
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
