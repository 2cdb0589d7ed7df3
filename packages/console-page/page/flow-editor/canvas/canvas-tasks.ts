import { createContext, useContext } from 'react'
import type { PortRef } from '../core/connection.ts'
import type { Position } from '../core/position.ts'

/** Dialog open over the canvas. */
export type CanvasTask =
  | { task: 'add'; position: Position; from: PortRef | null }
  | { task: 'connect'; from: PortRef }
  | { task: 'search' }

const Tasks = createContext<(task: CanvasTask) => void>(() => {})
export const TasksProvider = Tasks.Provider

export function useOpenTask(): (task: CanvasTask) => void {
  return useContext(Tasks)
}
