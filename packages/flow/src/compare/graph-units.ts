import type { ContractSide, Graph, GraphEdge, GraphNode, GraphNote } from '@gateway/api/graph'
import { endOf } from '../graph/layout.ts'

// Splits a graph into parts that are compared and merged separately. A node is one part with its incoming edges, so
// removing a node conflicts with adding an edge to it. Positions of nodes belong to no part.

/** All nodes with one ID (one, unless the graph has duplicates) and their incoming edges, in order. */
export interface NodeUnit {
  part: 'node'
  id: string
  nodes: GraphNode[]
  edges: GraphEdge[]
}
export interface FieldUnit {
  part: 'input' | 'output'
  name: string
  schema: ContractSide['properties'][string]
  isRequired: boolean
}
/** Rest of a side: its title, and required names that are not fields. */
export interface SideUnit {
  part: 'input-side' | 'output-side'
  rest: Record<string, unknown>
  required: string[]
}
/** A sticky note. Its position is compared as part of it and merged separately, like that of a node. */
export interface NoteUnit {
  part: 'note'
  note: GraphNote
}
export type Unit = NodeUnit | FieldUnit | SideUnit | NoteUnit
export type Units = Map<string, Unit>

export function unitsOf(graph: Graph): Units {
  const notes = (graph.notes ?? []).map((note): [string, Unit] => [`note ${note.id}`, { part: 'note', note }])
  return new Map([
    ...sideUnits(graph.input, 'input'),
    ...sideUnits(graph.output, 'output'),
    ...nodeUnits(graph),
    ...notes,
  ])
}

/** Returns the graph of these parts, in their order. */
export function graphOf(units: Iterable<Unit>): Graph {
  const graph: Graph = { input: emptySide(), output: emptySide(), nodes: [], edges: [] }
  for (const unit of units) {
    if ('nodes' in unit) {
      graph.nodes.push(...unit.nodes)
      graph.edges.push(...unit.edges)
    } else if ('note' in unit) {
      graph.notes = [...(graph.notes ?? []), unit.note]
    } else if ('schema' in unit) {
      const side = graph[unit.part]
      side.properties = { ...side.properties, [unit.name]: unit.schema }
      if (unit.isRequired) side.required!.push(unit.name)
    } else {
      const side = unit.part === 'input-side' ? 'input' : 'output'
      const { properties, required } = graph[side]
      graph[side] = { ...unit.rest, type: 'object', properties, required: [...required!, ...unit.required] }
    }
  }
  return graph
}

const emptySide = (): ContractSide => ({ type: 'object', properties: {}, required: [] })

function sideUnits(side: ContractSide, part: 'input' | 'output'): [string, Unit][] {
  const { type: _, properties, required = [], ...rest } = side
  const fields = Object.entries(properties).map(([name, schema]): [string, Unit] => [
    `${part} ${name}`,
    { part, name, schema, isRequired: required.includes(name) },
  ])
  const others = required.filter((name) => !Object.hasOwn(properties, name))
  return [...fields, [part, { part: `${part}-side`, rest, required: others }]]
}

function nodeUnits({ nodes, edges }: Graph): [string, Unit][] {
  const named = [...nodes.map(({ id }) => id), ...edges.map(({ to }) => endOf(to).node)]
  const byId = Map.groupBy(nodes, ({ id }) => id)
  const byTarget = Map.groupBy(edges, ({ to }) => endOf(to).node)
  return [...new Set(named)].map((id) => [
    `node ${id}`,
    { part: 'node', id, nodes: byId.get(id) ?? [], edges: byTarget.get(id) ?? [] },
  ])
}

/** Whether two JSON values are equal, regardless of the order of their keys. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [definedOf(a), definedOf(b)]
  return (
    left.length === right.length &&
    left.every(([key, value]) => Object.hasOwn(b, key) && sameJson(value, (b as Record<string, unknown>)[key]))
  )
}

const definedOf = (value: object) => Object.entries(value).filter(([, held]) => held !== undefined)
