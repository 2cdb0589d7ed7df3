import { errorOfExecution, type ExecutionRecord } from '@gateway/api/execution'
import { refusalOfExecution } from './explain-error.ts'
import { refuse, type Refusal } from '@gateway/api/refusal'
import { describe, expect, test } from 'vitest'

/** A record as the ledger composes it. */
function failed({ body }: Refusal, chargedMicro: number, startedAt: string | null = '2026-11-22T00:00:00Z') {
  const error = errorOfExecution(body, { id: 'exe_1', startedBy: 'chat', chargedMicro, ended: true })
  return { id: 'exe_1', error, chargedMicro, startedAt } as ExecutionRecord
}

describe('an execution that failed, to a chat caller', () => {
  test('is its error, with the execution and its charges', () => {
    const record = failed(refuse('provider_timeout', {}), 0)
    const { status, body, headers } = refusalOfExecution(record, false)
    expect(status).toBe(504)
    expect(body).toEqual({ ...record.error, details: { execution: 'exe_1', chargedMicro: 0 } })
    expect(headers['x-should-retry']).toBeUndefined()
  })

  test('is not to be repeated by itself where something was charged', () => {
    const { body, headers } = refusalOfExecution(failed(refuse('provider_failed', {}), 42), false)
    expect(body.message).toContain('was charged $0.000042')
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
    expect([body.message, body.resolution]).toEqual([
      expect.stringContaining('Execution exe_1 was not charged.') as string,
      expect.stringContaining('send the chat again, with a new Idempotency-Key if it had one') as string,
    ])
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
