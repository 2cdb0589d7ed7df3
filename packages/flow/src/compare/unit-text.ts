import type { Unit } from './graph-units.ts'

/** A part of a graph as people compare it: a line for each field, and the edges that lead to it. */
export function unitText(unit: Unit | null): string {
  if (unit === null) return 'not there'
  if ('schema' in unit) return lines({ ...unit.schema, required: unit.isRequired })
  if ('rest' in unit) return lines(unit.rest) || 'nothing else'
  const nodes = unit.nodes.map(({ id: _, position: __, ...fields }) => lines(fields))
  const edges = unit.edges.map(({ from, to }) => `← ${from} at ${to.slice(unit.id.length + 1)}`)
  return [...nodes, ...edges].join('\n')
}

function lines(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value, null, 1)}`)
    .join('\n')
}
