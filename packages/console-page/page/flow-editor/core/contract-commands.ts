import type { ContractSide, Graph } from '@gateway/api/graph'
import { endOf } from '@gateway/flow/layout'

// Edits of a flow contract. The order of the fields is also the order of ports and form fields.

export type Side = 'input' | 'output'
export type FieldSchema = ContractSide['properties'][string]

export function addContractField(graph: Graph, side: Side): { graph: Graph; name: string } {
  const { properties } = graph[side]
  let name = 'text'
  for (let number = 2; Object.hasOwn(properties, name); number++) name = `text_${number}`
  const changed = withFields(graph, side, [...Object.entries(properties), [name, { type: 'string' }]])
  return { graph: setRequired(changed, side, name, true), name }
}

export function setContractField(graph: Graph, side: Side, name: string, schema: FieldSchema): Graph {
  const fields = Object.entries(graph[side].properties)
  return withFields(
    graph,
    side,
    fields.map(([field, before]) => [field, field === name ? schema : before]),
  )
}

export function setRequired(graph: Graph, side: Side, name: string, isRequired: boolean): Graph {
  const { required = [], properties } = graph[side]
  if (required.includes(name) === isRequired) return graph
  const wanted = new Set(isRequired ? [...required, name] : required.filter((field) => field !== name))
  const inOrder = Object.keys(properties).filter((field) => wanted.delete(field))
  return { ...graph, [side]: { ...graph[side], required: [...inOrder, ...wanted] } }
}

/** Renames a field and updates its edges. Returns the graph unchanged if the name is empty or taken. */
export function renameContractField(graph: Graph, side: Side, name: string, newName: string): Graph {
  const { properties, required } = graph[side]
  if (newName === name || newName === '' || Object.hasOwn(properties, newName)) return graph
  const fields = Object.entries(properties).map(([field, schema]): [string, FieldSchema] => [
    field === name ? newName : field,
    schema,
  ])
  const renamed = withFields(graph, side, fields)
  const ids = nodesOf(graph, side)
  const end = side === 'input' ? 'from' : 'to'
  return {
    ...renamed,
    [side]: {
      ...renamed[side],
      ...(required && { required: required.map((field) => (field === name ? newName : field)) }),
    },
    edges: graph.edges.map((edge) => {
      const { node, port } = endOf(edge[end])
      if (!ids.has(node) || port !== name) return edge
      return { ...edge, [end]: `${node}.${newName}` }
    }),
  }
}

/** Removes a field and the edges at its port. */
export function removeContractField(graph: Graph, side: Side, name: string): Graph {
  const ids = nodesOf(graph, side)
  const end = side === 'input' ? 'from' : 'to'
  const fields = Object.entries(graph[side].properties).filter(([field]) => field !== name)
  const changed = setRequired(withFields(graph, side, fields), side, name, false)
  const edges = graph.edges.filter((edge) => {
    const { node, port } = endOf(edge[end])
    return !ids.has(node) || port !== name
  })
  return { ...changed, edges }
}

function withFields(graph: Graph, side: Side, fields: [string, FieldSchema][]): Graph {
  return { ...graph, [side]: { ...graph[side], properties: Object.fromEntries(fields) } }
}

function nodesOf(graph: Graph, side: Side): Set<string> {
  return new Set(graph.nodes.filter(({ kind }) => kind === side).map(({ id }) => id))
}

/** Selectable field types. A select is a string with choices; image and audio are objects with a format. */
export const shownTypes: readonly string[] = ['string', 'select', 'number', 'boolean', 'object', 'image', 'audio']

export function shownType({ type, enum: options, format }: FieldSchema): string {
  if (type === 'string' && options !== undefined) return 'select'
  if (type === 'object' && (format === 'image' || format === 'audio')) return format
  return typeof type === 'string' ? type : 'unknown'
}

/** A field as forms show it. What its author saved may be any object (`Graph`), and a form must open to repair it. */
export function shownField(schema: FieldSchema): { type: string; title: string; options: string[] } {
  const { title, enum: options } = schema as Record<string, unknown>
  return {
    type: shownType(schema),
    title: typeof title === 'string' ? title : '',
    options: Array.isArray(options) ? options.map(String) : [],
  }
}

/** Field schema with another type. Title and description are kept. */
export function schemaOfType({ type: _, enum: __, format: ___, ...words }: FieldSchema, type: string): FieldSchema {
  if (type === 'select') return { ...words, type: 'string', enum: ['one', 'two'] }
  if (type === 'image' || type === 'audio') return { ...words, type: 'object', format: type }
  return { ...words, type }
}

/** Example input for a contract, as JSON with placeholder values for the required fields. */
export function exampleInput({ properties, required = [] }: ContractSide): string {
  const fields = Object.entries(properties).filter(([name]) => required.includes(name))
  return JSON.stringify(Object.fromEntries(fields.map(([name, schema]) => [name, exampleOf(schema)])))
}

function exampleOf(schema: ContractSide['properties'][string]): unknown {
  const examples: Record<string, unknown> = {
    select: schema.enum?.[0],
    number: 1,
    boolean: true,
    object: {},
    image: { asset: 'ast_your_image' },
    audio: { asset: 'ast_your_sound' },
  }
  return examples[shownType(schema)] ?? 'Rain'
}
