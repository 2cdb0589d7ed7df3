import type { ExecutionRecord } from '@gateway/contracts/execution'
import { refuse, type Refusal } from '@gateway/contracts/refusal'
import { describe, expect, test } from 'vitest'
import { refusalOfExecution } from './refusal-of-execution.ts'

const failed = ({ body: error }: Refusal, chargedMicro: number, startedAt: string | null = '2026-11-22T00:00:00Z') =>
  ({ id: 'exe_1', error, chargedMicro, startedAt }) as ExecutionRecord

describe('an execution that failed, to a chat caller', () => {
  test('is its error, with the execution and its charges', () => {
    const { status, body, headers } = refusalOfExecution(failed(refuse('provider_timeout', {}), 0), false)
    expect(status).toBe(504)
    expect(body).toMatchObject({
      code: 'provider_timeout',
      message: 'The model did not answer in time. Nothing is charged.',
      details: { execution: 'exe_1', chargedMicro: 0 },
    })
    expect(headers['x-should-retry']).toBeUndefined()
  })

  test('does not promise that nothing is charged where something is, and is not to be repeated by itself', () => {
    const { body, headers } = refusalOfExecution(failed(refuse('provider_failed', {}), 42), false)
    expect(body.message).toBe(
      'The model failed to answer. The calls of the execution exe_1 that had succeeded are charged with 42 micro-USD.',
    )
    expect(headers['x-should-retry']).toBe('false')
  })

  test('is not to be repeated by itself under a key either, which would answer the same', () => {
    expect(refusalOfExecution(failed(refuse('node_failed', { node: 'a' }), 0), true).headers['x-should-retry']).toBe(
      'false',
    )
  })

  test('is a service that is away where no worker took it up in time [no_worker]', () => {
    const timeout = refuse('execution_timeout', { started: false })
    const { status, body, headers } = refusalOfExecution(failed(timeout, 0, null), false)
    expect([status, body.code, headers]).toEqual([503, 'no_worker', { 'Retry-After': '5' }])
    const late = refusalOfExecution(failed(refuse('execution_timeout', { started: true }), 0), false)
    expect([late.status, late.body.code]).toEqual([504, 'execution_timeout'])
  })

  test('keeps the details of its error', () => {
    const error = refuse('insufficient_budget', {} as never, { details: { availableMicro: 3 } })
    expect(refusalOfExecution(failed(error, 5), false).body.details).toEqual({
      availableMicro: 3,
      execution: 'exe_1',
      chargedMicro: 5,
    })
  })
})
