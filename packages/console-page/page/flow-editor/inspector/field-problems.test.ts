import { expect, test } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { validateGraph } from '@gateway/flow/validate-graph'
import { fieldOfProblem } from './field-problems.ts'

/** Fields of the problems that the validator finds at a node. */
function fieldsOf(node: Graph['nodes'][number]): (string | null)[] {
  const side = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
  const nodes = [{ id: 'in', kind: 'input' }, node, { id: 'out', kind: 'output' }]
  const products = new Map([
    [
      'acme/swift',
      { kind: 'chat' as const, assigned: true, supportedParameters: ['max_tokens'], maxOutputTokens: 100 },
    ],
  ])
  const problems = validateGraph({ input: side, output: side, nodes, edges: [] }, products)
  return problems.filter((problem) => problem.node === node.id).map((problem) => fieldOfProblem(problem, node.kind))
}

test.each([
  ['an unreadable template', { kind: 'template', template: 'A {{ a + }}' }, 'text'],
  ['a missing template', { kind: 'template' }, 'text'],
  ['an unreadable condition', { kind: 'branch', condition: 'a >' }, 'text'],
  ['a missing expression', { kind: 'expression' }, 'text'],
  ['a missing product', { kind: 'product.chat' }, 'product'],
  ['a product that cannot be called', { kind: 'product.chat', product: 'acme/gone' }, 'product'],
  ['a product of another kind', { kind: 'product.image', product: 'acme/swift' }, 'product'],
  ['too many tokens', { kind: 'product.chat', product: 'acme/swift', params: { max_tokens: 500 } }, 'max_tokens'],
  ['a hot temperature', { kind: 'product.chat', product: 'acme/swift', params: { temperature: 3 } }, 'temperature'],
  ['a broken tool', { kind: 'product.chat', product: 'acme/swift', params: { tools: [1] } }, 'tools'],
  ['a constant without a value', { kind: 'constant' }, 'value'],
] as const)('finds the field of %s', (_, node, field) => {
  expect(fieldsOf({ id: 'node', ...node })).toContain(field)
})

test('a problem of a port belongs to no field', () => {
  expect(fieldsOf({ id: 'node', kind: 'template', template: '{{ a }}' })).toEqual([null])
})
