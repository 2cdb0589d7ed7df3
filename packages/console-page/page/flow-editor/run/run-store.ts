import { createContext, useContext } from 'react'
import { createStore } from 'zustand/vanilla'
import type { ExecutionRecord, NodeDetail, NodeRecord } from '@gateway/api/execution'
import type { Graph } from '@gateway/api/graph'

/** What is shown of a node; lines of progress do not have all that its record has. */
export type ShownNode = Pick<NodeRecord, 'status' | 'durationMs' | 'chargedMicro' | 'error' | 'output' | 'takenOver'> &
  Partial<Pick<NodeDetail, 'input' | 'attempts'>>

export interface RunState {
  /** What it executed; null without one. */
  graph: Graph | null
  nodes: ReadonlyMap<string, ShownNode>
  executionId: string | null
  isRunning: boolean
  ended: ExecutionRecord | null
}

const nothing: RunState = { graph: null, nodes: new Map(), executionId: null, isRunning: false, ended: null }

/** The execution that is shown on the canvas. */
export function openRun() {
  return createStore<RunState>()(() => nothing)
}
export type RunStore = ReturnType<typeof openRun>

const Run = createContext<RunStore>(openRun())
export const RunProvider = Run.Provider

export function useRunStore(): RunStore {
  return useContext(Run)
}
