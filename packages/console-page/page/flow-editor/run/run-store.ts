import { createContext, useContext } from 'react'
import { createStore } from 'zustand/vanilla'
import type { ExecutionRecord, NodeDetail, NodeRecord } from '@gateway/api/execution'
import type { Graph } from '@gateway/api/graph'

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
}

const nothing: RunState = { graph: null, nodes: new Map(), executionId: null, isRunning: false, ended: null }

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
