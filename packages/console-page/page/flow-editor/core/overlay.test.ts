import { expect, test } from 'vitest'
import { differenceOf } from '@gateway/flow/compare/difference'
import { edgeKey } from './edges.ts'
import { newGraph } from '@gateway/flow/new-graph'
import { addNode, connect, moveNodes, setField } from './node-commands.ts'
import { overlayOf } from './overlay.ts'

const at = { x: 0, y: 0 }
const withAsk = connect(addNode(newGraph, { kind: 'template', position: at }).graph, {
  from: 'in.text',
  to: 'template.text',
})
const overlay = (before: typeof newGraph, after: typeof newGraph) =>
  overlayOf(before, after, differenceOf(before, after))

test('overlayOf contains each node and edge of both graphs once, marked as added, removed or the same', () => {
  const grown = overlay(newGraph, withAsk)
  expect(grown.nodes.get('template')).toBe('added')
  expect(grown.edges.get(edgeKey({ from: 'in.text', to: 'template.text' }))).toBe('added')
  expect(grown.edges.get(edgeKey({ from: 'in.text', to: 'out.text' }))).toBe('same')
  const shrunk = overlay(withAsk, newGraph)
  expect(shrunk.nodes.get('template')).toBe('removed')
  expect(shrunk.edges.get(edgeKey({ from: 'in.text', to: 'template.text' }))).toBe('removed')
  expect(shrunk.graph.nodes.map(({ id }) => id).toSorted()).toEqual(['in', 'out', 'template'])
})

test('overlayOf marks an edited node as changed and a repositioned node as moved', () => {
  const said = setField(withAsk, 'template', 'template', 'Sing.')
  expect(overlay(withAsk, said).nodes.get('template')).toBe('changed')
  const moved = moveNodes(withAsk, new Map([['template', { x: 9, y: 9 }]]))
  expect(overlay(withAsk, moved).nodes.get('template')).toBe('moved')
})
