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

test('describes one tool with a fixed name and the title and description of the flow', () => {
  const tool = describeTool(facts)
  expect(tool).toMatchObject({ name: 'invoke_product', title: 'Poster', description: 'Makes a poster.' })
  expect(describeTool({ ...facts, description: ' ' }).description).toBe('Poster')
  expect(JSON.stringify(describeTool(structuredClone(facts)))).toBe(JSON.stringify(tool))
})

test('describes a select as an enum and its format in words', () => {
  const { topic, voice, more } = fieldsOf(describeTool(facts).inputSchema)
  expect(topic).toEqual({ type: 'string', title: 'Topic', description: 'What to write about.' })
  expect(voice).toEqual({ type: 'string', enum: ['alto', 'bass'], description: 'A voice.' })
  expect(more).toEqual({ type: 'object' })
})

test('describes how to pass an image or audio', () => {
  const { photo, tune } = fieldsOf(describeTool(facts).inputSchema)
  expect(photo).toMatchObject({ type: 'object', required: ['asset'], additionalProperties: false })
  expect(photo!['description']).toMatch(/^What to look at\.\nAn image, .*image\/png.*POST \/v1\/assets/s)
  expect(tune!['description']).toMatch(/^A sound, .*audio\/wav/)
})

test('describes how to fetch an image of a result', () => {
  const { photo } = fieldsOf(describeTool(facts).outputSchema!)
  expect(photo).toMatchObject({ required: ['asset', 'mimeType', 'bytes'] })
  expect(photo!['description']).toContain('GET /v1/assets/{asset}')
})

test('forbids additional fields and omits formats that JSON Schema does not define', () => {
  const { inputSchema, outputSchema } = describeTool(facts)
  expect(inputSchema).toMatchObject({ type: 'object', required: ['topic'], additionalProperties: false })
  expect(outputSchema).toMatchObject({ type: 'object', required: [], additionalProperties: false })
  expect(JSON.stringify([inputSchema, outputSchema])).not.toContain('"format"')
})
