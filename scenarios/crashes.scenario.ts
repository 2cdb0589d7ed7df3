import { describe, expect } from 'vitest'
import { expectOrder, keyedTenant, startKeyedCalls } from './src/keyed-calls.ts'
import { harmedStackTest as test } from './src/harmed-stack-test.ts'

// Services are killed under load: 2,000 calls over all wires. Afterwards nothing is reserved, the books add up, and every call charged under an idempotency key
// can be replayed.

const CALLERS = 60

describe('kill -9 under load', () => {
  test('a killed gateway has its reservations released within 30 s while the other one serves', async ({ stack }) => {
    const tenant = await keyedTenant(stack)
    await stack.provider.control.setFaults([{ latencyMs: 30 }])
    const load = startKeyedCalls(stack, tenant, CALLERS)
    await load.answered(200)
    await stack.gateways[0]!.kill()
    expect(await stack.openReservations(tenant.project.id)).toBeGreaterThan(0)
    await load.answered(500)
    await stack.gateways[0]!.start()
    await load.answered(1_000)
    await load.stop()
    await expectOrder(stack, tenant, load)
  })

  test('requests to a killed ledger are retried and nothing is lost', async ({ stack }) => {
    const tenant = await keyedTenant(stack)
    const load = startKeyedCalls(stack, tenant, CALLERS)
    for (const ledger of stack.ledgers) {
      await load.answered(load.count() + 300)
      await ledger.kill()
      await ledger.start()
    }
    await load.answered(load.count() + 300)
    await load.stop()
    await expectOrder(stack, tenant, load)
  })

  test('an immediate stop of Postgres refuses callers and loses nothing', async ({ stack, postgresServer }) => {
    const tenant = await keyedTenant(stack)
    const load = startKeyedCalls(stack, tenant, CALLERS)
    await load.answered(300)
    await postgresServer.stopImmediately()
    await postgresServer.restart()
    await load.answered(load.count() + 300)
    await load.stop()
    await expectOrder(stack, tenant, load)
  })
})
