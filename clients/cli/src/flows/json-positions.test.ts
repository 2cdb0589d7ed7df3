import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readJson } from './json-positions.ts'

test('every JSON is read as the language reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(4), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(readJson(text)).toMatchObject({ value: JSON.parse(text) as unknown })
    }),
  )
})

test('a text with a slip is refused where the language refuses it, and nowhere else', () => {
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

test('a part is found on its line, and what is not there at what is around it', () => {
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
] as const)('%j is wrong at line %i, column %i', ([text, line, column]) => {
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
