import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { chat, openStack, type Stack, type TenantFixture } from './src/stack.ts'

// Parts of the stack are killed under load. Afterwards nothing is held, the books add up, and whoever was charged under an
// idempotency key can have the answer.

const test = liveTest.extend('stack', async ({ postgresServer, redis }, { onCleanup }) => {
  const stack = await openStack({
    adminUrl: postgresServer.adminUrl,
    ledgerUrl: postgresServer.ledgerUrl,
    redisUrl: redis.url,
    ledgers: 2,
    gateways: 2,
  })
  onCleanup(stack.close)
  return stack
})

const CALLERS = 60

interface Load {
  /** Idempotency keys of all calls that were tried, with how the last try ended: the body, or null. */
  answers: Map<string, string | null>
  stop: () => Promise<void>
}

const bodyOf = (key: string) => ({ messages: [{ role: 'user', content: `Crash ${key}` }] })

function startLoad(stack: Stack, tenant: TenantFixture): Load {
  const answers = new Map<string, string | null>()
  let going = true
  const callers = Array.from({ length: CALLERS }, async (_, n) => {
    while (going) {
      const key = randomUUID()
      answers.set(key, null)
      const answer = await tryCall(stack, tenant, key, n)
      if (answer) answers.set(key, answer)
    }
  })
  return {
    answers,
    stop: async () => {
      going = false
      await Promise.all(callers)
    },
  }
}

async function tryCall(stack: Stack, tenant: TenantFixture, key: string, gateway: number): Promise<string | null> {
  try {
    const answer = await chat(stack, tenant, {
      headers: { 'idempotency-key': key },
      body: bodyOf(key),
      gateway,
      signal: AbortSignal.timeout(20_000),
    })
    const text = await answer.text()
    if (answer.status === 200) return text
    // A refusal answers at once; a caller that hammers is not what is tested here.
    await new Promise((resolve) => setTimeout(resolve, 20))
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return null
}

/** Resolves once so many calls have been answered, so that what is killed is killed under load. */
async function underLoad(load: Load, answered: number): Promise<void> {
  while ([...load.answers.values()].filter((one) => one !== null).length < answered)
    await new Promise((resolve) => setTimeout(resolve, 10))
}

async function expectOrder(stack: Stack, tenant: TenantFixture, load: Load): Promise<void> {
  await stack.untilNothingIsReserved(tenant.project.id, 30_000)
  expect(await stack.findings()).toEqual([])
  const calls = await stack.invocations(tenant.project.id)
  const { rows } = await stack.fixture.run('SELECT key, reservation FROM money.idempotency_keys WHERE project = $1', [
    tenant.project.id,
  ])
  const keyOf = new Map(
    (rows as { key: string; reservation: string }[]).map(({ key, reservation }) => [reservation, key]),
  )
  const charged = calls.filter(({ state, chargedMicro }) => state === 'Settled' && chargedMicro > 0n)
  expect(charged.length).toBeGreaterThan(0)
  // Every charged call of a key can be had again, byte for byte what its caller got, without a second charge.
  const before = await stack.wallet(tenant.project.id)
  for (const { id } of charged.slice(-300)) {
    const key = keyOf.get(id)!
    const replay = await chat(stack, tenant, { headers: { 'idempotency-key': key }, body: bodyOf(key) })
    expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    const text = await replay.text()
    expect(text).toBe(load.answers.get(key) ?? text)
  }
  expect((await stack.wallet(tenant.project.id)).settled).toBe(before.settled)
  // And nobody got an answer that the books do not know.
  const settledKeys = new Set(charged.map(({ id }) => keyOf.get(id)))
  expect([...load.answers].filter(([key, answer]) => answer !== null && !settledKeys.has(key))).toEqual([])
}

describe('kill -9 under load', () => {
  test('of a gateway: its reservations end within 30 s, the other one goes on', async ({ stack }) => {
    const tenant = await stack.tenant(100_000_000_000n)
    await stack.provider.control.setFaults([{ latencyMs: 30 }])
    const load = startLoad(stack, tenant)
    await underLoad(load, 200)
    await stack.gateways[0]!.kill()
    expect(await stack.openReservations(tenant.project.id)).toBeGreaterThan(0)
    await underLoad(load, 400)
    await stack.gateways[0]!.start()
    await underLoad(load, 600)
    await load.stop()
    await expectOrder(stack, tenant, load)
  })

  test('of a ledger: what it had in hand is asked again', async ({ stack }) => {
    const tenant = await stack.tenant(100_000_000_000n)
    const load = startLoad(stack, tenant)
    for (const answered of [200, 600, 1_000]) {
      await underLoad(load, answered)
      await stack.ledgers[0]!.kill()
      await stack.ledgers[0]!.start()
    }
    await load.stop()
    await expectOrder(stack, tenant, load)
  })

  test('an immediate stop of Postgres: callers are refused, and nothing is lost', async ({ stack, postgresServer }) => {
    const tenant = await stack.tenant(100_000_000_000n)
    const load = startLoad(stack, tenant)
    await underLoad(load, 300)
    await postgresServer.stopImmediately()
    await postgresServer.restart()
    const sofar = [...load.answers.values()].filter((one) => one !== null).length
    await underLoad(load, sofar + 300)
    await load.stop()
    await expectOrder(stack, tenant, load)
  })
})
