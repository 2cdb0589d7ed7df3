import { describe, expect } from 'vitest'
import { expectOrder, startKeyedCalls } from './src/keyed-calls.ts'
import { harmedStackTest as test } from './src/harmed-stack-test.ts'

// Parts of the stack are killed under load. Afterwards nothing is held, the books add up, and anyone who was charged under an
// idempotency key can have the answer.

const CALLERS = 60

describe('kill -9 under load', () => {
  test('of a gateway: its reservations end within 30 s, the other one continues', async ({ stack }) => {
    const tenant = await stack.tenant(100_000_000_000n)
    await stack.provider.control.setFaults([{ latencyMs: 30 }])
    const load = startKeyedCalls(stack, tenant, CALLERS)
    await load.answered(200)
    await stack.gateways[0]!.kill()
    expect(await stack.openReservations(tenant.project.id)).toBeGreaterThan(0)
    await load.answered(400)
    await stack.gateways[0]!.start()
    await load.answered(600)
    await load.stop()
    await expectOrder(stack, tenant, load)
  })

  test('of a ledger: what it had in hand is asked again', async ({ stack }) => {
    const tenant = await stack.tenant(100_000_000_000n)
    const load = startKeyedCalls(stack, tenant, CALLERS)
    for (const answered of [200, 600, 1_000]) {
      await load.answered(answered)
      await stack.ledgers[0]!.kill()
      await stack.ledgers[0]!.start()
    }
    await load.stop()
    await expectOrder(stack, tenant, load)
  })

  test('an immediate stop of Postgres: callers are refused, and nothing is lost', async ({ stack, postgresServer }) => {
    const tenant = await stack.tenant(100_000_000_000n)
    const load = startKeyedCalls(stack, tenant, CALLERS)
    await load.answered(300)
    await postgresServer.stopImmediately()
    await postgresServer.restart()
    await load.answered(load.count() + 300)
    await load.stop()
    await expectOrder(stack, tenant, load)
  })
})
