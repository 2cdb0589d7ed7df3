import { expect, test } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { edgeValueOf, givenTo } from './edge-values.ts'
import type { ShownNode } from './run-store.ts'

const none = { type: 'object' as const, properties: {} }
const graph: Graph = {
  input: none,
  output: none,
  nodes: [
    { id: 'in', kind: 'input' },
    { id: 'long', kind: 'branch', condition: 'size(text) > 4' },
    { id: 'out', kind: 'output' },
  ],
  edges: [
    { from: 'in.text', to: 'long.text' },
    { from: 'long.true.text', to: 'out.text' },
    { from: 'long.false.text', to: 'out.text' },
  ],
}
const did = (output: ShownNode['output'], input: ShownNode['input'] = null): ShownNode => ({
  status: 'Succeeded',
  durationMs: 1,
  chargedMicro: 0,
  error: null,
  output,
  takenOver: false,
  input,
})
const nodes = new Map([
  ['in', did({ text: 'rain' })],
  ['long', did({ 'false.text': 'rain' })],
])

test('an edge has the value of its source port, and none on the side that the branch did not take', () => {
  expect(graph.edges.map((edge) => edgeValueOf(edge, { graph, nodes }))).toEqual(['rain', null, 'rain'])
})

test('an edge drawn after the execution has no value', () => {
  expect(edgeValueOf({ from: 'in.text', to: 'out.text' }, { graph, nodes })).toBeNull()
  expect(edgeValueOf(graph.edges[0]!, { graph: null, nodes })).toBeNull()
})

test('givenTo returns the recorded inputs of a node or, without a record, the values of its edges', () => {
  expect(givenTo('out', { graph, nodes })).toEqual({ text: 'rain' })
  expect(givenTo('in', { graph, nodes })).toBeNull()
  const recorded = new Map([...nodes, ['out', did(null, { text: 'snow' })] as const])
  expect(givenTo('out', { graph, nodes: recorded })).toEqual({ text: 'snow' })
})
