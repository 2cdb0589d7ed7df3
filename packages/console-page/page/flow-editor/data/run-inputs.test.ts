import { expect, test } from 'vitest'
import { fittingValues, runInputs, valuesToType } from './run-inputs.ts'

function openStorage() {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => void kept.set(key, text),
  }
}
const nothing = { last: {}, maxCost: '', sets: [] }

test('keeps the inputs of each flow and user apart', () => {
  const storage = openStorage()
  const mine = runInputs(storage, { user: 'a', sandbox: 's' })
  const kept = { last: { text: 'rain' }, maxCost: '0.05', sets: [{ name: 'Wet', values: { text: 'rain' } }] }
  expect(mine.keep(kept)).toBe(true)
  expect(mine.read()).toEqual(kept)
  expect(runInputs(storage, { user: 'b', sandbox: 's' }).read()).toEqual(nothing)
  expect(runInputs(storage, { user: 'a', sandbox: 't' }).read()).toEqual(nothing)
})

test('keeps at most 256 KiB, and what was kept before instead', () => {
  const inputs = runInputs(openStorage(), { user: 'a', sandbox: 's' })
  expect(inputs.keep({ ...nothing, last: { text: 'short' } })).toBe(true)
  expect(inputs.keep({ ...nothing, last: { text: 'x'.repeat(300_000) } })).toBe(false)
  expect(inputs.read().last).toEqual({ text: 'short' })
})

test('ignores text that it did not write', () => {
  const storage = { getItem: () => '{"last": 3}', setItem: () => {} }
  expect(runInputs(storage, { user: 'a', sandbox: 's' }).read()).toEqual(nothing)
})

test('leaves out values of fields that the flow no longer has', () => {
  expect(fittingValues({ text: 'a', gone: 1, toString: 2 }, { properties: { text: { type: 'string' } } })).toEqual({
    text: 'a',
  })
})

const schemas = {
  string: { type: 'string' },
  select: { type: 'string', enum: ['dry', 'wet'] },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  image: { type: 'object', format: 'image' },
  audio: { type: 'object', format: 'audio' },
}
const typed = {
  string: 'dry',
  other: 'rain',
  number: 1,
  boolean: true,
  null: null,
  list: [1],
  asset: { asset: 'ast_1' },
}
const every = Object.keys(typed)

test.for([
  ['string', ['string', 'other']],
  ['select', ['string', 'other']],
  ['number', ['number']],
  ['boolean', ['boolean']],
  ['object', every], // its field shows any JSON
  ['image', ['asset']],
  ['audio', ['asset']],
] as const)('keeps for a field of type %s only values that it shows', ([type, kept]) => {
  const side = { properties: { field: schemas[type] } }
  const fits = (value: unknown) => 'field' in fittingValues({ field: value }, side)
  expect(every.filter((name) => fits(typed[name as keyof typeof typed]))).toEqual(kept)
})

test('takes only the ID of an asset from an execution', () => {
  const image = { asset: 'ast_1', mimeType: 'image/png', bytes: 70 }
  expect(valuesToType({ image, text: 'a', list: [1] })).toEqual({ image: { asset: 'ast_1' }, text: 'a', list: [1] })
})
