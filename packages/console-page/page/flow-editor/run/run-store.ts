import { createContext, useContext } from 'react'
import { createStore } from 'zustand/vanilla'
import type { ExecutionRecord, NodeRecord } from '@gateway/contracts/execution'

/** What is shown of a node. */
export type ShownNode = Pick<NodeRecord, 'status' | 'durationMs' | 'chargedMicro' | 'error' | 'output' | 'takenOver'>

export interface RunState {
  nodes: ReadonlyMap<string, ShownNode>
  executionId: string | null
  isRunning: boolean
  ended: ExecutionRecord | null
}

const nothing: RunState = { nodes: new Map(), executionId: null, isRunning: false, ended: null }

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
