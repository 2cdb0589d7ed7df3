import { Refusal } from '@gateway/api/refusal'
import { describe, expect, test } from 'vitest'
import { parseJson, parseJsonObject } from './read-body.ts'

function messageOf(work: () => unknown): string {
  try {
    return `read as ${JSON.stringify(work())}`
  } catch (error) {
    return error instanceof Refusal ? `${error.code} ${error.body.message}` : String(error)
  }
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const invalid = (reason: string) => `invalid_json The request body is not valid JSON: ${reason}.`

describe('parseJson', () => {
  test.each([
    ['{"a":[1]}', 'read as {"a":[1]}'],
    ['"text"', 'read as "text"'],
    ['', invalid('it is empty')],
    ['{"name": "secret', invalid('unterminated string at position 16 (line 1 column 17)')],
    ['{name: "secret"}', invalid("expected property name or '}' at position 1 (line 1 column 2)")],
    ['secret', invalid("unexpected token 's'")],
    ['[1,]', invalid("unexpected token ']'")],
  ])('%s: %s', (body, expected) => {
    expect(messageOf(() => parseJson(Buffer.from(body)))).toBe(expected)
  })

  test('refuses bytes that are not UTF-8', () => {
    expect(messageOf(() => parseJson(Buffer.from([0x22, 0xff, 0x22])))).toBe(invalid('it is not UTF-8'))
  })

  test.each(['1e400', '-1e400', '[{"a":[1e999]}]'])('refuses %s for a number beyond double precision', (body) => {
    expect(messageOf(() => parseJson(Buffer.from(body)))).toBe(
      'invalid_request The body holds a number beyond double precision (1.8e308).',
    )
  })

  test('accepts at most 100 levels of nesting', () => {
    expect(messageOf(() => parseJson(Buffer.from(nested(100))))).toMatch(/^read as/)
    const tooDeep = invalid('it is nested more than 100 levels deep')
    expect(messageOf(() => parseJson(Buffer.from(nested(101))))).toBe(tooDeep)
    expect(messageOf(() => parseJson(Buffer.from(nested(100_000))))).toBe(tooDeep)
  })
})

describe('parseJsonObject', () => {
  test.each([
    ['{"a":1}', 'read as {"a":1}'],
    ['', 'read as {}'],
    ['[]', invalid('it is not an object')],
    ['null', invalid('it is not an object')],
    ['1', invalid('it is not an object')],
  ])('%s: %s', (body, expected) => {
    expect(messageOf(() => parseJsonObject(Buffer.from(body)))).toBe(expected)
  })
})
