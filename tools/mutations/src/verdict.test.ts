import { expect, test } from 'vitest'
import { summary, verdictLine, type Tried, type Verdict } from './verdict.ts'

const tried = (id: string, verdict: Verdict): Tried => ({ id, rule: `The rule ${id}.`, verdict, ms: 12_400 })
const all = [
  tried('one', { kind: 'killed', by: 'one.test.ts: it holds' }),
  tried('second', { kind: 'hangs', limitMs: 600_000 }),
  tried('third', { kind: 'survived' }),
  tried('fourth', { kind: 'unsure', why: 'four.test.ts fails without the mutation too' }),
  tried('fifth', { kind: 'not-applicable', why: 'five.ts is not there' }),
]

test('verdictLine prints each mutation as one line, in columns', () => {
  expect(all.map((one) => verdictLine(one, 6))).toEqual([
    'one     killed           12 s  one.test.ts: it holds',
    'second  killed           12 s  the tests hang: not over after 600 s',
    'third   survived         12 s',
    'fourth  unsure           12 s  four.test.ts fails without the mutation too',
    'fifth   not applicable   12 s  five.ts is not there',
  ])
})

test('summary prints the rule of each survivor, and the count of applicable mutations last', () => {
  expect(summary(all).split('\n')).toEqual([
    'survived: third. The rule third.',
    'unsure: fourth. The rule fourth.',
    'not applicable: 1',
    'killed 2 of 4',
  ])
  expect(summary(all.slice(0, 2))).toBe('killed 2 of 2')
})
