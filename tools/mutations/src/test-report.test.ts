import { expect, test } from 'vitest'
import { readTestReport } from './verdict.ts'

const file = (name: string, status: string, message: string, ...assertions: [string, string][]) => ({
  name: `/copy/${name}`,
  status,
  message,
  assertionResults: assertions.map(([fullName, status]) => ({ fullName, status })),
})
const report = (...testResults: object[]) => JSON.stringify({ testResults })
const leftOut = file('a.test.ts', 'failed', '')
const failed = file('b.test.ts', 'failed', '', ['it holds', 'passed'], [' it is bounded', 'failed'])
const broken = file('c.test.ts', 'failed', 'SyntaxError: no\n  at c.ts')

test('readTestReport finds the failed test, and ignores files skipped after it', () => {
  expect(readTestReport(report(leftOut, broken, failed), 1, '/copy')).toEqual({
    kind: 'failed',
    file: 'b.test.ts',
    test: 'it is bounded',
  })
})

test('a file that could not be loaded is a failure with the first line of the error', () => {
  const outcome = { kind: 'failed', file: 'c.test.ts', test: 'SyntaxError: no' }
  expect(readTestReport(report(leftOut, broken), 1, '/copy')).toEqual(outcome)
})

test('an error outside any test is a failure, and an empty or missing report means nothing ran', () => {
  const passed = file('d.test.ts', 'passed', '', ['it holds', 'passed'])
  expect(readTestReport(report(passed), 0, '/copy')).toEqual({ kind: 'passed' })
  expect(readTestReport(report(passed), 1, '/copy')).toMatchObject({ kind: 'failed', file: null })
  expect(readTestReport(report(), 1, '/copy')).toMatchObject({ kind: 'none' })
  expect(readTestReport(null, 1, '/copy')).toMatchObject({ kind: 'none' })
})
