import fc from 'fast-check'
import type { Graph } from '@gateway/api/graph'
import { clip, paste } from './clipping.ts'
import { addContractField, removeContractField, renameContractField, setContractField } from './contract-commands.ts'
import { edgeKey } from './edges.ts'
import {
  freeId,
  addNode,
  connect,
  disconnect,
  moveNodes,
  removeNodes,
  renameNode,
  setField,
  nodeKeys,
} from './node-commands.ts'

/** A command and its targets, given as numbers so that it applies to any graph. */
export interface RandomChange {
  what: number
  a: number
  b: number
  text: string
}

export const randomChange: fc.Arbitrary<RandomChange> = fc.record({
  what: fc.nat(10),
  a: fc.nat(999),
  b: fc.nat(999),
  text: fc.string({ maxLength: 8 }),
})

const kinds = ['template', 'expression', 'branch', 'constant', 'product.chat', 'input', 'none']

export function changedBy(graph: Graph, { what, a, b, text }: RandomChange): Graph {
  const keys = nodeKeys(graph)
  const key = keys[a % Math.max(1, keys.length)] ?? ''
  const edge = graph.edges[a % Math.max(1, graph.edges.length)]
  const field = Object.keys(graph.input.properties)[a % Math.max(1, Object.keys(graph.input.properties).length)] ?? ''
  switch (what) {
    case 0:
      return addNode(graph, { kind: kinds[a % kinds.length]!, position: { x: a, y: b } }).graph
    case 1:
      return removeNodes(graph, new Set([key]))
    case 2:
      return moveNodes(graph, new Map([[key, { x: b, y: a }]]))
    case 3:
      return setField(graph, key, ['template', 'condition', 'title', 'value'][b % 4]!, text)
    case 4:
      return edge ? disconnect(graph, new Set([edgeKey(edge)])) : graph
    case 5: {
      const to = graph.nodes[b % Math.max(1, graph.nodes.length)]
      return edge && to ? connect(graph, { from: edge.from, to: `${to.id}.${text}` }) : graph
    }
    case 6:
      return paste(graph, clip(graph, new Set([key, keys[b % Math.max(1, keys.length)] ?? ''])), { x: 40, y: 40 }).graph
    case 7:
      return renameNode(graph, key, freeId(graph, text))
    case 8:
      return addContractField(graph, b % 2 === 0 ? 'input' : 'output').graph
    case 9:
      return b % 2 === 0
        ? removeContractField(graph, 'input', field)
        : renameContractField(graph, 'input', field, `f${text}`)
    default:
      return Object.hasOwn(graph.input.properties, field)
        ? setContractField(graph, 'input', field, { type: ['string', 'number'][b % 2]!, title: text })
        : graph
  }
}
