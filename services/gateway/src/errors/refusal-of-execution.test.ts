import { errorOfExecution, type ExecutionRecord } from '@gateway/api/execution'
import { continues, mayHaveBegun, refusalOfExecution, unread } from './explain-error.ts'
import { refuse, type Refusal } from '@gateway/api/refusal'
import { describe, expect, test } from 'vitest'

/** Builds a record the way the ledger does. */
function failed({ body }: Refusal, chargedMicro: number, startedAt: string | null = '2026-11-22T00:00:00Z') {
  const error = errorOfExecution(body, { id: 'exe_1', startedBy: 'chat', chargedMicro, ended: true })
  return { id: 'exe_1', error, chargedMicro, startedAt } as ExecutionRecord
}

describe('the chat error for a failed execution', () => {
  test('is the error of the execution, with its ID and charge', () => {
    const record = failed(refuse('provider_timeout', {}), 0)
    const { status, body, headers } = refusalOfExecution(record, false)
    expect(status).toBe(504)
    expect(body).toEqual({ ...record.error, details: { execution: 'exe_1', chargedMicro: 0 } })
    expect(headers['x-should-retry']).toBeUndefined()
  })

  test('tells clients not to retry if the execution was charged', () => {
    const { body, headers } = refusalOfExecution(failed(refuse('provider_failed', {}), 42), false)
    expect(body.message).toContain('was charged $0.000042')
    expect(headers['x-should-retry']).toBe('false')
  })

  test('tells clients not to retry under an idempotency key, which would replay the same error', () => {
    expect(refusalOfExecution(failed(refuse('node_failed', { node: 'a' }), 0), true).headers['x-should-retry']).toBe(
      'false',
    )
  })

  test('is a retryable 503 if no worker claimed the execution in time [no_worker]', () => {
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

  test('keeps the details of the execution error', () => {
    const error = refuse('insufficient_budget', {} as never, { details: { availableMicro: 3 } })
    expect(refusalOfExecution(failed(error, 5), false).body.details).toEqual({
      availableMicro: 3,
      execution: 'exe_1',
      chargedMicro: 5,
    })
  })
})

describe('an execution whose end the service could not see', () => {
  const known: [string, (begun: { execution: string; keyed: boolean }) => Refusal][] = [
    ['may have begun', mayHaveBegun],
    ['continues', continues],
    ['succeeded, and its usage could not be read', (begun) => unread(begun, 1_500_000)],
  ]

  test.each(known)('is not repeated by clients without an idempotency key, who can read it [%s]', (_name, refusal) => {
    const { status, body, headers } = refusal({ execution: 'exe_1', keyed: false })
    expect([status, headers['Retry-After'], headers['x-should-retry']]).toEqual([503, undefined, 'false'])
    expect(body.resolution).toContain('GET /v1/executions/exe_1')
  })

  test.each(known)('is repeated by clients with one, who get the same execution [%s]', (_name, refusal) => {
    const { headers } = refusal({ execution: 'exe_1', keyed: true })
    expect([headers['Retry-After'], headers['x-should-retry']]).toEqual([expect.any(String), undefined])
  })

  test('names its charge once it has one', () => {
    for (const keyed of [true, false]) {
      const { body } = unread({ execution: 'exe_1', keyed }, 1_500_000)
      expect(body.message).toContain('was charged $1.50')
      expect(body.details).toEqual({ execution: 'exe_1', chargedMicro: 1_500_000 })
    }
  })
})
