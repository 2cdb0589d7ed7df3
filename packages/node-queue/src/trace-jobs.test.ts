import { expect, test } from 'vitest'
import { tracedEnqueue, tracedRun } from './trace-jobs.ts'

test('without a tracer nothing is wrapped', () => {
  const [enqueue, run] = [() => Promise.resolve(), () => Promise.resolve()]
  expect(tracedEnqueue(null, enqueue)).toBe(enqueue)
  expect(tracedRun(null, run)).toBe(run)
})
