import { createStore } from 'zustand/vanilla'
import { temporal } from 'zundo'
import type { Graph } from '@gateway/api/graph'
import { groupedHistory } from './grouped-history.ts'

/** Maximum number of undo steps. Steps are cheap: they share unchanged parts of the graph. */
const HISTORY_STEPS = 200

export interface EditorState {
  graph: Graph
  /** Keys of the selected nodes and edges. Undo does not affect them. */
  selectedNodes: ReadonlySet<string>
  selectedEdges: ReadonlySet<string>
}

/**
 * Opens the document of an editor with its history. Each change is a step. Consecutive changes of one group, such as
 * typing in a field or moving with arrow keys, are one step until a pause.
 * @param now milliseconds
 */
export function openEditor(graph: Graph, now: () => number) {
  const grouping = groupedHistory(now)
  const store = createStore<EditorState>()(
    temporal((): EditorState => ({ graph, selectedNodes: nothing, selectedEdges: nothing }), {
      partialize: ({ graph }) => ({ graph }),
      equality: (before, after) => before.graph === after.graph,
      limit: HISTORY_STEPS,
      handleSet: grouping.handleSet,
    }),
  )
  const { temporal: history } = store

  /** Applies a command as one history step. A command that returns the same graph adds no step. */
  function change(command: (graph: Graph) => Graph, group: string | null = null): void {
    const before = store.getState().graph
    const after = command(before)
    if (after === before) return
    grouping.next(group)
    store.setState({ graph: after })
  }
  function select(nodes: Iterable<string>, edges: Iterable<string> = []): void {
    store.setState({ selectedNodes: new Set(nodes), selectedEdges: new Set(edges) })
  }
  /** Opens another document, such as another revision, and clears the history. */
  function open(graph: Graph): void {
    store.setState({ graph, selectedNodes: nothing, selectedEdges: nothing })
    history.getState().clear()
    grouping.end()
  }
  function undo(): void {
    grouping.end()
    history.getState().undo()
  }
  function redo(): void {
    grouping.end()
    history.getState().redo()
  }
  return { store, history, change, select, open, undo, redo, endGroup: grouping.end }
}
export type Editor = ReturnType<typeof openEditor>

const nothing: ReadonlySet<string> = new Set()
