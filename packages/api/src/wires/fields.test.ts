import { expect, test } from 'vitest'
import { findArgumentsEnd } from './fields.ts'

test.each([
  ['{}', true],
  ['{"a":{"b":[1,2]}}', true],
  [' {"a":"}\\"{"} ', true],
  ['{"a":"\\\\"}', true],
  ['', false],
  ['{"a":', false],
  ['{"a":"}', false],
  ['{"a":"\\"}', false],
  ['{"a":{}', false],
])('arguments %s are complete: %s, in parts of any size', (json, complete) => {
  for (const size of [1, 2, 100]) {
    const end = findArgumentsEnd()
    for (let at = 0; at < json.length; at += size) end.add(json.slice(at, at + size))
    expect(end.isReached()).toBe(complete)
  }
})
