import { expect, test } from 'vitest'
import { wrongWith } from './documented-answer.ts'

const price = { type: 'object', properties: { prompt: { type: 'string' }, request: { type: 'string' } } }
const product = { type: 'object', properties: { id: { type: 'string' }, pricing: price } }
const schema = { type: 'object', properties: { data: { type: 'array', items: product } } }
const content = { schema, example: { data: [{ id: 'acme/swift', pricing: { prompt: '1' } }] } }
const answer = JSON.stringify({
  data: [
    { id: 'mine', pricing: { prompt: '1' } },
    { id: 'others', pricing: { prompt: '1', request: '2' } },
  ],
})

test('reports a response field that the example lacks', () => {
  expect(wrongWith('application/json', content, answer, new Set())).toEqual([
    '.data[].pricing.request is only in the answer',
  ])
})

test('ignores list entries of other tests next to those of the examples', () => {
  expect(wrongWith('application/json', content, answer, new Set(['mine']))).toEqual([])
})
