import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJson } from './json-positions.ts'

test('readJson reads any JSON as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(4), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(readJson(text)).toMatchObject({ value: JSON.parse(text) as unknown })
    }),
  )
})

test('readJson refuses a corrupted text exactly if JSON.parse does', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.nat(),
      fc.constantFrom('', ',', '"', '}', '\\', '\u0001', 'x'),
      (value, at, slip) => {
        const text = JSON.stringify(value, null, 1)
        const changed = text.slice(0, at % text.length) + slip + text.slice((at % text.length) + 1)
        const read = readJson(changed)
        if ('fault' in read && /twice|too large/.test(read.fault)) return
        expect('fault' in read).toBe(!isJson(changed))
      },
    ),
    { numRuns: 1_000 },
  )
})

test('readJson finds the position of a part, or of the nearest enclosing part if it is missing', () => {
  const read = readJson('{\n  "nodes": [\n    { "id": "in" },\n    { "id": "out" }\n  ]\n}')
  if ('fault' in read) throw new Error(read.fault)
  expect(read.at(['nodes', 1])).toEqual({ line: 4, column: 5 })
  expect(read.at(['nodes', 1, 'id'])).toEqual({ line: 4, column: 7 })
  expect(read.at(['nodes', 1, 'kind'])).toEqual({ line: 4, column: 5 })
  expect(read.at([])).toEqual({ line: 1, column: 1 })
})

test.for([
  ['{\n  "a": 1,\n}', 3, 1],
  ['{ "a" 1 }', 1, 7],
  ['{ "a": 1, "a": 2 }', 1, 11],
  ['[1', 1, 3],
] as const)('readJson reports the fault in %j at line %i, column %i', ([text, line, column]) => {
  expect(readJson(text)).toMatchObject({ position: { line, column } })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
