import { expect, test } from 'vitest'
import type { ContractSide } from '@gateway/api/graph'
import { describeTool, inputOf } from './describe-tool.ts'

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

const SAFE = /^[a-zA-Z0-9_.-]{1,64}$/

test('gives input names that model APIs refuse a distinct alias, with the name as its title', () => {
  const names = ['题目', '标题', 'Titel des Textes', 'Titel-des Textes', 'a'.repeat(80), `${'a'.repeat(80)}b`, '']
  const properties = Object.fromEntries([...names, 'topic'].map((name) => [name, { type: 'string' as const }]))
  const side: ContractSide = { type: 'object', properties, required: ['题目', 'topic'] }
  const { inputSchema } = describeTool({ ...facts, input: side })
  const aliases = Object.entries(fieldsOf(inputSchema))
  expect(aliases.filter(([alias]) => !SAFE.test(alias))).toEqual([])
  expect(aliases.map(([alias, { title = alias }]) => title)).toEqual([...names, 'topic'])
  const [first] = aliases[0]!
  expect(inputSchema.required).toEqual([first, 'topic'])
  expect(aliases[2]![0]).toMatch(/^Titel_des_Textes_[0-9a-f]{8}$/)
  const byAlias = Object.fromEntries(aliases.map(([alias], n) => [alias, n]))
  const byName = Object.fromEntries([...names, 'topic'].map((name, n) => [name, n]))
  expect([inputOf(byAlias, side), inputOf(byName, side)]).toEqual([byName, byName])
})

test('names an input with an alias in its description if it has another title', () => {
  const properties: ContractSide['properties'] = {
    题目: { type: 'string', title: 'Topic', description: 'What to write about.' },
    标题: { type: 'string', title: '标题' },
    图片: { type: 'object', format: 'image', title: 'Photo' },
  }
  const tool = describeTool({ ...facts, input: { type: 'object', properties } })
  const [first, second, third] = Object.values(fieldsOf(tool.inputSchema))
  expect(first).toEqual({
    type: 'string',
    title: 'Topic',
    description: 'What to write about.\nThe name of this input is "题目".',
  })
  expect(second).toEqual({ type: 'string', title: '标题' })
  expect(third!['description']).toMatch(/^The name of this input is "图片"\.\nAn image, /)
})

test('gives no alias that is the name of another input', () => {
  const only = describeTool({ ...facts, input: { type: 'object', properties: { 题目: { type: 'string' } } } })
  const [alias] = Object.keys(fieldsOf(only.inputSchema)) as [string]
  const both: ContractSide = { type: 'object', properties: { 题目: { type: 'string' }, [alias]: { type: 'number' } } }
  const [other, same] = Object.keys(fieldsOf(describeTool({ ...facts, input: both }).inputSchema)) as [string, string]
  expect(same).toBe(alias)
  expect(other).not.toBe(alias)
  expect(inputOf({ [other]: 'a', [same]: 1 }, both)).toEqual({ 题目: 'a', [alias]: 1 })
})

test('keeps both values of an input that is given by name and by alias, so that the call is refused', () => {
  const side: ContractSide = { type: 'object', properties: { 题目: { type: 'string' } } }
  const [alias] = Object.keys(fieldsOf(describeTool({ ...facts, input: side }).inputSchema)) as [string]
  expect(inputOf({ 题目: 'a', [alias]: 'b' }, side)).toEqual({ 题目: 'a', [alias]: 'b' })
})

test('cuts the description at the 1,024 characters that model APIs accept', () => {
  const described = (description: string) => describeTool({ ...facts, description }).description!
  expect(described('x'.repeat(1_024))).toBe('x'.repeat(1_024))
  expect(described('x'.repeat(1_025))).toBe(`${'x'.repeat(1_023)}…`)
  expect(described(`${'x'.repeat(1_022)}😀😀`)).toBe(`${'x'.repeat(1_022)}…`)
})
