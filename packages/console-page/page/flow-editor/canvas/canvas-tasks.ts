import { createContext, useContext } from 'react'
import type { GraphEdge } from '@gateway/api/graph'
import type { Joint, PortRef } from '../core/connection.ts'
import type { Position } from '../core/position.ts'

/** What the context menu acts on: the selection, an edge, or the canvas itself. */
export type MenuTarget = { on: 'selection' } | { on: 'edge'; edge: GraphEdge } | { on: 'canvas' }

/** What is open over the canvas: a dialog, the context menu, or the text of a note. */
export type CanvasTask =
  | { task: 'add'; position: Position | null; joint: Joint | null }
  | { task: 'connect'; from: PortRef }
  | { task: 'search' }
  | { task: 'menu'; target: MenuTarget; at: Position; position: Position; from: HTMLElement | SVGElement | null }
  | { task: 'note'; id: string }

const Tasks = createContext<(task: CanvasTask | null) => void>(() => {})
export const TasksProvider = Tasks.Provider

export function useOpenTask(): (task: CanvasTask | null) => void {
  return useContext(Tasks)
}
