import { createStore } from 'zustand/vanilla'
import { temporal } from 'zundo'
import type { Graph } from '@gateway/api/graph'
import { groupedHistory } from './grouped-history.ts'

/** No one undoes more than that; each step shares with the next what did not change. */
const HISTORY_STEPS = 200

export interface EditorState {
  graph: Graph
  /** Keys of nodes, and of edges, that are chosen. Not undone. */
  selectedNodes: ReadonlySet<string>
  selectedEdges: ReadonlySet<string>
}

/**
 * The document of one editor and its history. A change is a step, and changes of one group that follow each other (typing into one
 * field, moving by arrows) are one step until they pause.
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

  /** Changes the graph; undone as one. A change that answers the same graph is none. */
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
  /** Another document, such as another revision, without a history. */
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
