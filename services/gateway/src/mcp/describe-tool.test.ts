import { expect, test } from 'vitest'
import type { ContractSide } from '@gateway/api/graph'
import { describeTool } from './describe-tool.ts'

const input: ContractSide = {
  type: 'object',
  properties: {
    topic: { type: 'string', title: 'Topic', description: 'What to write about.' },
    voice: { type: 'string', enum: ['alto', 'bass'], format: 'voice' },
    photo: { type: 'object', format: 'image', description: 'What to look at.' },
    tune: { type: 'object', format: 'audio' },
    more: { type: 'object' },
  },
  required: ['topic'],
}
const output: ContractSide = { type: 'object', properties: { photo: { type: 'object', format: 'image' } } }
const facts = { name: 'Poster', description: 'Makes a poster.', input, output }

const fieldsOf = (side: object) => (side as { properties: Record<string, Record<string, unknown>> }).properties

test('one tool, named by the protocol and told by its author', () => {
  const tool = describeTool(facts)
  expect(tool).toMatchObject({ name: 'invoke_product', title: 'Poster', description: 'Makes a poster.' })
  expect(describeTool({ ...facts, description: ' ' }).description).toBe('Poster')
  expect(JSON.stringify(describeTool(structuredClone(facts)))).toBe(JSON.stringify(tool))
})

test('a select is an enum, and its format is said in words', () => {
  const { topic, voice, more } = fieldsOf(describeTool(facts).inputSchema)
  expect(topic).toEqual({ type: 'string', title: 'Topic', description: 'What to write about.' })
  expect(voice).toEqual({ type: 'string', enum: ['alto', 'bass'], description: 'A voice.' })
  expect(more).toEqual({ type: 'object' })
})

test('tells a model how to pass an image or a sound', () => {
  const { photo, tune } = fieldsOf(describeTool(facts).inputSchema)
  expect(photo).toMatchObject({ type: 'object', required: ['asset'], additionalProperties: false })
  expect(photo!['description']).toMatch(/^What to look at\.\nAn image, .*image\/png.*POST \/v1\/assets/s)
  expect(tune!['description']).toMatch(/^A sound, .*audio\/wav/)
})

test('tells a model where an image of a result is', () => {
  const { photo } = fieldsOf(describeTool(facts).outputSchema!)
  expect(photo).toMatchObject({ required: ['asset', 'mimeType', 'bytes'] })
  expect(photo!['description']).toContain('GET /v1/assets/{asset}')
})

test('schemas allow no other fields, and hold no format that JSON Schema does not know', () => {
  const { inputSchema, outputSchema } = describeTool(facts)
  expect(inputSchema).toMatchObject({ type: 'object', required: ['topic'], additionalProperties: false })
  expect(outputSchema).toMatchObject({ type: 'object', required: [], additionalProperties: false })
  expect(JSON.stringify([inputSchema, outputSchema])).not.toContain('"format"')
})
