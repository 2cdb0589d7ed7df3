import { createStore, type StoreApi } from 'zustand/vanilla'
import { temporal } from 'zundo'
import type { Graph } from '@gateway/api/graph'
import { createContext, useContext } from 'react'
import { useStore } from 'zustand'
import type { ProductRecord } from '@gateway/api/console/products'
import type { CanvasModel, Products } from '../core/canvas-model.ts'

/** Maximum number of undo steps. Steps are cheap: they share unchanged parts of the graph. */
const HISTORY_STEPS = 200

/** Text in the JSON panel. */
export interface TypedJson {
  text: string
  /** The graph that the text was read as, or was shown from. */
  graph: Graph
  /** Why it was not applied; null: it was. */
  fault: string | null
}

/** Revision that a graph is based on. Number 0 means that none has been saved. */
export interface Base {
  number: number
  graph: Graph
}

interface EditorState {
  graph: Graph
  /** What the graph is based on. A save moves it along; undo and redo over a rebase go to another one. */
  base: StoreApi<Base>
  /** Keys of the selected nodes and edges, and IDs of the selected notes. Undo does not affect them. */
  selectedNodes: ReadonlySet<string>
  selectedEdges: ReadonlySet<string>
  selectedNotes: ReadonlySet<string>
}

/**
 * Opens the document of an editor with its history. Each change is a step. Consecutive changes of one group, such as
 * typing in a field or moving with arrow keys, are one step until a pause.
 * @param now milliseconds
 */
export function openEditor(graph: Graph, now: () => number, first: Base = { number: 0, graph }) {
  const grouping = groupedHistory(now)
  const store = createStore<EditorState>()(
    temporal((): EditorState => ({ graph, base: createStore(() => first), ...noSelection }), {
      partialize: ({ graph, base }) => ({ graph, base }),
      equality: (before, after) => before.graph === after.graph,
      limit: HISTORY_STEPS,
      handleSet: grouping.handleSet,
    }),
  )
  const { temporal: history } = store
  /** Kept while another panel is open. */
  const typedJson = createStore<{ typed: TypedJson | null }>(() => ({ typed: null }))
  /** Texts of fields that could not be applied to the graph, by node key and field. Kept while another node is selected. */
  const heldTexts = createStore<Record<string, Readonly<Record<string, string>>>>(() => ({}))

  /** Applies a command as one history step. A command that returns the same graph adds no step. */
  function change(command: (graph: Graph) => Graph, group: string | null = null): void {
    const before = store.getState().graph
    const after = command(before)
    if (after === before) return
    grouping.next(group)
    store.setState({ graph: after })
  }
  /**
   * Replaces the graph with one that is based on another revision, as one history step.
   * @param renamed new keys of nodes, by the old ones: they stay selected and keep their texts
   */
  function rebase(graph: Graph, base: Base, renamed: ReadonlyMap<string, string> = new Map()): void {
    grouping.next(null)
    const selected = [...store.getState().selectedNodes].map((key) => renamed.get(key) ?? key)
    store.setState({ graph, base: createStore(() => base), ...noSelection, selectedNodes: new Set(selected) })
    for (const [key, now] of renamed) heldTexts.setState(({ [key]: texts = {} }) => ({ [key]: {}, [now]: texts }))
  }
  function select(nodes: Iterable<string>, edges: Iterable<string> = [], notes: Iterable<string> = []): void {
    store.setState({
      selectedNodes: new Set(nodes),
      selectedEdges: new Set(edges),
      selectedNotes: new Set(notes),
    })
  }
  /** Opens another document, such as another revision, and clears the history. */
  function open(graph: Graph): void {
    store.setState({ graph, ...noSelection })
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
  return { store, history, typedJson, heldTexts, change, rebase, select, open, undo, redo, endGroup: grouping.end }
}
export type Editor = ReturnType<typeof openEditor>

const nothing: ReadonlySet<string> = new Set()
const noSelection = { selectedNodes: nothing, selectedEdges: nothing, selectedNotes: nothing }

const PAUSE_MS = 1_000

/** Combines consecutive changes of the same group into one history step. @param now milliseconds */
function groupedHistory(now: () => number) {
  let last: { group: string | null; atMs: number } | null = null
  let continues = false

  /** Sets the group of the next change; null makes it a separate step. */
  function next(group: string | null): void {
    const atMs = now()
    continues = group !== null && last?.group === group && atMs - last.atMs < PAUSE_MS
    last = { group, atMs }
  }
  function end(): void {
    last = null
  }
  /** Records only the state before the first change of a group. */
  function handleSet<Keep extends (...args: never[]) => void>(keep: Keep): Keep {
    return ((...args: Parameters<Keep>) => {
      if (!continues) keep(...args)
    }) as Keep
  }
  return { next, end, handleSet }
}

/** State shared by all parts of an open editor. */
interface EditorSession {
  editor: Editor
  model: CanvasModel
  products: Products
  catalogue: readonly ProductRecord[]
}

const Session = createContext<EditorSession | null>(null)
export const SessionProvider = Session.Provider

export function useSession(): EditorSession {
  const session = useContext(Session)
  if (!session) throw new Error('No editor is open.')
  return session
}

export function useSelection(): Omit<EditorState, 'graph' | 'base'> {
  const { store } = useSession().editor
  const selectedNodes = useStore(store, (state) => state.selectedNodes)
  const selectedEdges = useStore(store, (state) => state.selectedEdges)
  const selectedNotes = useStore(store, (state) => state.selectedNotes)
  return { selectedNodes, selectedEdges, selectedNotes }
}
