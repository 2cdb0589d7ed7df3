import { describe, expect, test } from 'vitest'
import { createReadiness } from './open-service.ts'

describe('readiness', () => {
  test('is false while starting and while stopping, while liveness is true throughout', async () => {
    const readiness = createReadiness()
    expect(await readiness.ready()).toEqual({ status: 503, body: { status: 'starting' } })
    readiness.started()
    expect(await readiness.ready()).toEqual({ status: 200, body: { status: 'ready' } })
    readiness.stopping()
    readiness.started()
    expect(await readiness.ready()).toEqual({ status: 503, body: { status: 'stopping' } })
    expect(await readiness.live()).toEqual({ status: 200, body: { status: 'live' } })
  })

  test('names each failing check with its reason, and a thrown error without its text', async () => {
    const readiness = createReadiness({ checkLimitMs: 1 })
    readiness.check('redis', () => null)
    readiness.check('postgres', () => 'no connection')
    readiness.check('ledger', () => Promise.reject(new Error('postgres://user:password@host')))
    readiness.check('provider', () => new Promise(() => {}))
    readiness.started()
    expect(await readiness.ready()).toEqual({
      status: 503,
      body: {
        status: 'not ready',
        reasons: { postgres: 'no connection', ledger: 'failed', provider: 'no answer within 1 ms' },
      },
    })
  })

  test('does not affect liveness, which only liveness checks fail', async () => {
    const readiness = createReadiness({ checkLimitMs: 1 })
    readiness.check('postgres', () => 'no connection')
    expect(await readiness.live()).toMatchObject({ status: 200 })
    readiness.checkLive('batches', () => 'stand still')
    expect(await readiness.live()).toEqual({
      status: 503,
      body: { status: 'not live', reasons: { batches: 'stand still' } },
    })
  })
})
