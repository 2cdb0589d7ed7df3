import type { Graph } from '@gateway/api/graph'
import { expect, test } from 'vitest'
import { newGraph } from '../new-graph.ts'
import { validateGraph } from '../validate-graph.ts'
import { graphWarnings } from './warnings.ts'

const text = { type: 'string' }
const ends = [
  { id: 'in', kind: 'input' },
  { id: 'out', kind: 'output' },
]
const flow = (nodes: Graph['nodes'], edges: string[], fields: string[] = ['text']): Graph => ({
  input: { type: 'object', properties: Object.fromEntries(fields.map((field) => [field, text])) },
  output: { type: 'object', properties: { text } },
  nodes: [...ends, ...nodes],
  edges: edges.map((edge) => {
    const [from = '', to = ''] = edge.split('>')
    return { from, to }
  }),
})
const chat = (id: string) => ({ id, kind: 'product.chat', product: 'p' })
const template = (id: string) => ({ id, kind: 'template', template: '{{ text }}' })
const warned = (graph: Graph) => graphWarnings(graph).map(({ code, node, port }) => [code, node, port])

test('a new flow has no warnings', () => {
  expect(graphWarnings(newGraph)).toEqual([])
})

test('warns of a paid node whose result nothing uses, and of nodes behind which nothing leads to the output', () => {
  const graph = flow(
    [chat('used'), chat('lost'), template('first'), template('second')],
    [
      'in.text>used.prompt',
      'used.text>out.text',
      'in.text>lost.prompt',
      'lost.text>first.text',
      'first.text>second.text',
    ],
  )
  expect(warned(graph)).toEqual([
    ['result_unused', 'lost', null],
    ['node_unused', 'first', null],
    ['node_unused', 'second', null],
  ])
})

test('warns of an input that no node reads', () => {
  expect(warned(flow([], ['in.text>out.text'], ['text', 'tone']))).toEqual([['input_unused', 'in', 'tone']])
})

test('warns of an optional input wired to a required output, except through a template or a branch', () => {
  const sides = (required: string[], fields = ['text', 'tone']) => ({
    input: {
      type: 'object' as const,
      properties: Object.fromEntries(fields.map((field) => [field, text])),
      required,
    },
    output: { type: 'object' as const, properties: { text, more: text }, required: ['text'] },
  })
  const branch = { id: 'b', kind: 'branch', condition: 'text != null && tone != null' }
  const led = (required: string[], nodes: Graph['nodes'], edges: string[]) =>
    warned({ ...flow(nodes, edges), ...sides(required) })
  expect(led(['tone'], [], ['in.text>out.text', 'in.tone>out.more'])).toEqual([['optional_to_output', 'out', 'text']])
  expect(led(['text'], [], ['in.text>out.text', 'in.tone>out.more'])).toEqual([])
  expect(led(['tone'], [template('t')], ['in.text>t.text', 't.text>out.text', 'in.tone>out.more'])).toEqual([])
  const both = ['in.text>b.text', 'in.tone>b.tone']
  expect(led(['tone'], [branch], [...both, 'b.true.text>out.text', 'b.false.tone>out.text'])).toEqual([])
})

test('a warning names what clears it, and does not prevent activation', () => {
  const graph = flow([template('lost')], ['in.text>out.text', 'in.text>lost.text'])
  expect(graphWarnings(graph)).toEqual([
    {
      code: 'node_unused',
      node: 'lost',
      port: null,
      message: 'The node lost does not lead to the output.',
      resolution: 'Wire it, or remove it.',
    },
  ])
  expect(validateGraph(graph, new Map())).toEqual([])
})

test('ends for a graph with a circle or of unknown kinds', () => {
  const circle = flow([template('a'), template('b')], ['a.text>b.text', 'b.text>a.text', 'in.text>out.text'])
  expect(warned(circle)).toEqual([
    ['node_unused', 'a', null],
    ['node_unused', 'b', null],
  ])
  expect(warned(flow([{ id: 'x', kind: 'nothing' }], ['in.text>out.text']))).toEqual([])
})
