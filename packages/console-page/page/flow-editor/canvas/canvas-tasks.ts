import { createContext, useContext } from 'react'
import type { PortPlace } from '../core/connection.ts'
import type { Position } from '../core/position.ts'

/** What opens over the canvas. */
export type CanvasTask =
  | { task: 'add'; position: Position; from: PortPlace | null }
  | { task: 'connect'; from: PortPlace }
  | { task: 'search' }

const Tasks = createContext<(task: CanvasTask) => void>(() => {})
export const TasksProvider = Tasks.Provider

export function useOpenTask(): (task: CanvasTask) => void {
  return useContext(Tasks)
}
