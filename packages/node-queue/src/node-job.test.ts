import { expect, test } from 'vitest'
import { jobIdOf, readNodeJob } from './node-job.ts'

const job = { execution: 'exe_01jd3v5m8y2k4t6w8x0z1a3c5e', node: 'draft', attempt: 0 }

test('a job id is determined by execution, node and attempt', () => {
  expect(jobIdOf(job)).toMatch(/^n-exe_01jd3v5m8y2k4t6w8x0z1a3c5e-[0-9a-f]{16}-0$/)
  expect(jobIdOf({ ...job })).toBe(jobIdOf(job))
  expect(jobIdOf({ ...job, attempt: 1 })).not.toBe(jobIdOf(job))
  expect(jobIdOf({ ...job, node: 'other' })).not.toBe(jobIdOf(job))
})

test('a job id contains no characters of the node name', () => {
  expect(jobIdOf({ ...job, node: 'a:b:c {svc} *' })).toMatch(/^n-[\w-]+$/)
})

test('reads only ids and trace context of a job', () => {
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
  expect(readNodeJob({ ...job, trace, prompt: 'a secret plan' })).toEqual({ ...job, trace })
})

test('rejects a value that is not a job', () => {
  for (const wrong of [null, 'text', {}, { ...job, execution: 'a:b' }, { ...job, attempt: -1 }, { ...job, node: '' }])
    expect(() => readNodeJob(wrong)).toThrow()
})
