import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'

// What somebody typed into the form of a contract, as the input of an execution.

interface Typed {
  name: string
  shape: { type: string; enum?: string[]; format?: string }
  text: string
}
const file = pathToFileURL(path.join(import.meta.dirname, 'files/contract-form.js')).href
const { inputOf, exampleOf } = (await import(/* @vite-ignore */ file)) as {
  inputOf(typed: Typed[]): Record<string, unknown>
  exampleOf(side: { properties: Record<string, Typed['shape']>; required?: string[] }): Record<string, unknown>
}

test('each field has the type of the contract, and what is empty is left out', () => {
  const typed = (name: string, type: string, text: string): Typed => ({ name, shape: { type }, text })
  expect(
    inputOf([
      typed('topic', 'string', '12'),
      typed('count', 'number', '12'),
      typed('loud', 'boolean', 'false'),
      typed('more', 'object', '{"a":1}'),
      typed('left', 'string', ''),
    ]),
  ).toEqual({ topic: '12', count: 12, loud: false, more: { a: 1 } })
  expect(Object.keys(inputOf([typed('__proto__', 'string', 'x')]))).toEqual(['__proto__'])
})

test('an object that is not JSON is said by its name', () => {
  expect(() => inputOf([{ name: 'more', shape: { type: 'object' }, text: '{' }])).toThrow('more is not JSON.')
})

test('an example has what is required, and nothing that a select has not', () => {
  const properties = {
    topic: { type: 'string' },
    tone: { type: 'string', enum: ['dry', 'warm'] },
    n: { type: 'number' },
  }
  expect(exampleOf({ properties, required: ['topic', 'tone'] })).toEqual({ topic: 'Hello', tone: 'dry' })
  expect(exampleOf({ properties })).toEqual({})
})
