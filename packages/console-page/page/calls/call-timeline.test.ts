import { exampleOf } from '@gateway/api/openapi-document'
import { invocationRecord, type InvocationRecord } from '@gateway/api/console/money'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { scaleOf, timelineOf } from './call-timeline.ts'

const call = (changes: Partial<InvocationRecord>): InvocationRecord => ({
  ...(exampleOf(z.toJSONSchema(invocationRecord)) as InvocationRecord),
  ...changes,
})
const texts = (changes: Partial<InvocationRecord>) => timelineOf(call(changes)).map(({ what, text }) => [what, text])

test('timelineOf lists admission, each attempt, first token and charge with exact times', () => {
  const tries: InvocationRecord['tries'] = [
    { provider: null, startMs: 2, endMs: 1_500, outcome: 'timeout' },
    { provider: 'other', startMs: 1_500, endMs: 2_900, outcome: 'answered' },
  ]
  const given = call({ tries, firstTokenMs: 1_800, durationMs: 2_910 })
  const rows = timelineOf(given)
  expect(rows.map(({ what, text }) => [what, text])).toEqual([
    ['Admitted', '0 ms'],
    ['Attempt 1: timed out', '2 – 1,500 ms'],
    ['Attempt 2 at other: answered', '1,500 – 2,900 ms'],
    ['First token', '1,800 ms'],
    ['Charged', '2,910 ms'],
  ])
  expect(rows.map(({ tone }) => tone)).toEqual(['plain', 'bad', 'good', 'plain', 'plain'])
  expect(scaleOf(rows)).toBe(2_910)
})

test('timelineOf says what was not recorded or not streamed', () => {
  expect(texts({ tries: null, firstTokenMs: null, durationMs: 5 })).toEqual([
    ['Admitted', '0 ms'],
    ['Attempts', 'Not recorded'],
    ['First token', 'Not recorded'],
    ['Charged', '5 ms'],
  ])
  expect(texts({ tries: [], firstTokenMs: null, durationMs: 5 })).toContainEqual(['First token', 'Not streamed'])
  expect(texts({ state: 'Released', tries: [], firstTokenMs: null, durationMs: 5 })).toEqual([
    ['Admitted', '0 ms'],
    ['Released', '5 ms'],
  ])
  expect(texts({ state: 'Open', tries: null, firstTokenMs: null, durationMs: null })).toEqual([['Admitted', '0 ms']])
})
