import { expect, test } from 'vitest'
import { tracedEnqueue, tracedExecution } from './trace-jobs.ts'

test('without a tracer nothing is wrapped', () => {
  const [enqueue, run] = [() => Promise.resolve(), () => Promise.resolve()]
  expect(tracedEnqueue(null, enqueue)).toBe(enqueue)
  expect(tracedExecution(null, run)).toBe(run)
})
