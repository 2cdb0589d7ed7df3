import { z } from 'zod'
import { graphEdge, graphNode, graphNote, type Graph } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'
import { renamedEdge } from './edges.ts'
import { freeId, nodeKeys } from './node-commands.ts'
import { freeNoteId } from './note-commands.ts'
import { positionOf, rounded, type Position } from './position.ts'

const FORMAT = 'gateway-flow-nodes'
const VERSION = 1
const MOST_CHARACTERS = 1_000_000

/** What the clipboard holds, as JSON text. Its values are data only: pasting never runs any of them. */
const clippingShape = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  nodes: z.array(graphNode).max(200),
  edges: z.array(graphEdge).max(1000),
  notes: z.array(graphNote).max(100),
})
/** Copied nodes with the edges among them, and copied notes. */
export type Clipping = z.infer<typeof clippingShape>

/** @param keys of nodes, from `nodeKeys` */
export function clip(graph: Graph, keys: ReadonlySet<string>, noteIds: ReadonlySet<string> = new Set()): Clipping {
  const all = nodeKeys(graph)
  const nodes = graph.nodes.filter((_, ordinal) => keys.has(all[ordinal]!))
  const ids = new Set(nodes.map(({ id }) => id))
  const edges = graph.edges.filter(({ from, to }) => ids.has(endOf(from).node) && ids.has(endOf(to).node))
  return {
    format: FORMAT,
    version: VERSION,
    nodes,
    edges,
    notes: (graph.notes ?? []).filter(({ id }) => noteIds.has(id)),
  }
}

interface Pasted {
  graph: Graph
  /** Keys of the new nodes. */
  keys: string[]
  noteIds: string[]
}

/**
 * Pastes copied nodes, their edges and notes with new IDs, moved by an offset in pixels. Edges are renamed; templates
 * and expressions name ports of the node they are in, so they stay. An input or output node is skipped if the graph already
 * has one, because a flow has one of each.
 */
export function paste(graph: Graph, { nodes, edges, notes }: Clipping, by: Position): Pasted {
  const only = new Set(['input', 'output'].filter((only) => graph.nodes.some(({ kind }) => kind === only)))
  const moved = ({ x, y }: Position) => rounded({ x: x + by.x, y: y + by.y })
  const ids = new Map<string, string>()
  const pasted = { nodes: [...graph.nodes], edges: [...graph.edges, ...edges] } // reserves their IDs
  for (const node of nodes) {
    if (only.has(node.kind) || ids.has(node.id)) continue
    const id = freeId(pasted, node.id)
    ids.set(node.id, id)
    pasted.nodes.push({ ...node, id, position: moved(positionOf(node) ?? { x: 0, y: 0 }) })
  }
  const inner = edges.filter(({ from, to }) => ids.has(endOf(from).node) && ids.has(endOf(to).node))
  const renamed = inner.map((edge) => ({
    from: renamedEdge(edge, endOf(edge.from).node, ids.get(endOf(edge.from).node)!).from,
    to: renamedEdge(edge, endOf(edge.to).node, ids.get(endOf(edge.to).node)!).to,
  }))
  const allNotes = [...(graph.notes ?? [])]
  for (const note of notes) allNotes.push({ ...note, id: freeNoteId(allNotes), position: moved(note.position) })
  const noteIds = allNotes.slice(graph.notes?.length ?? 0).map(({ id }) => id)
  if (ids.size === 0 && noteIds.length === 0) return { graph, keys: [], noteIds: [] }
  return {
    graph: {
      ...graph,
      nodes: pasted.nodes,
      edges: [...graph.edges, ...renamed],
      ...(noteIds.length > 0 && { notes: allNotes }),
    },
    keys: [...ids.values()],
    noteIds,
  }
}

/** Parses copied nodes from clipboard text, or says in one sentence why it can't be pasted. */
export function readClipping(text: string): Clipping | { fault: string } {
  if (text.length > MOST_CHARACTERS) return { fault: 'The clipboard has too much text to paste as nodes.' }
  const json = parsed(text)
  const read = clippingShape.safeParse(json)
  if (read.success) return read.data
  const { format, version } = (json ?? {}) as { format?: unknown; version?: unknown }
  if (format !== FORMAT) return { fault: 'The clipboard has no nodes of a flow.' }
  if (version !== VERSION)
    return { fault: 'These nodes were copied in another version of the console. Reload the page.' }
  return { fault: 'The copied nodes are damaged or too many to paste.' }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
