import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { chat, openHouse, type House, type Shop } from './src/house.ts'

// Parts of the house are killed under load. Afterwards nothing is held, the books add up, and whoever was charged under an
// idempotency key can have the answer.

const test = liveTest.extend('house', async ({ postgresServer, redis }, { onCleanup }) => {
  const house = await openHouse({
    adminUrl: postgresServer.adminUrl,
    ledgerUrl: postgresServer.ledgerUrl,
    redisUrl: redis.url,
    ledgers: 2,
    gateways: 2,
  })
  onCleanup(house.close)
  return house
})

const CALLERS = 60

interface Load {
  /** Idempotency keys of all calls that were tried, with how the last try ended: the body, or null. */
  answers: Map<string, string | null>
  stop: () => Promise<void>
}

const bodyOf = (key: string) => ({ messages: [{ role: 'user', content: `Crash ${key}` }] })

function startLoad(house: House, shop: Shop): Load {
  const answers = new Map<string, string | null>()
  let going = true
  const callers = Array.from({ length: CALLERS }, async (_, n) => {
    while (going) {
      const key = randomUUID()
      answers.set(key, null)
      const answer = await tryCall(house, shop, key, n)
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

async function tryCall(house: House, shop: Shop, key: string, gateway: number): Promise<string | null> {
  try {
    const answer = await chat(house, shop, {
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

async function expectOrder(house: House, shop: Shop, load: Load): Promise<void> {
  await house.untilNothingIsHeld(shop.project.id, 30_000)
  expect(await house.findings()).toEqual([])
  const calls = await house.invocations(shop.project.id)
  const { rows } = await house.world.run('SELECT key, reservation FROM money.idempotency_keys WHERE project = $1', [
    shop.project.id,
  ])
  const keyOf = new Map(
    (rows as { key: string; reservation: string }[]).map(({ key, reservation }) => [reservation, key]),
  )
  const charged = calls.filter(({ state, chargedMicro }) => state === 'Settled' && chargedMicro > 0n)
  expect(charged.length).toBeGreaterThan(0)
  // Every charged call of a key can be had again, byte for byte what its caller got, without a second charge.
  const before = await house.wallet(shop.project.id)
  for (const { id } of charged.slice(-300)) {
    const key = keyOf.get(id)!
    const replay = await chat(house, shop, { headers: { 'idempotency-key': key }, body: bodyOf(key) })
    expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
    const text = await replay.text()
    expect(text).toBe(load.answers.get(key) ?? text)
  }
  expect((await house.wallet(shop.project.id)).settled).toBe(before.settled)
  // And nobody got an answer that the books do not know.
  const settledKeys = new Set(charged.map(({ id }) => keyOf.get(id)))
  expect([...load.answers].filter(([key, answer]) => answer !== null && !settledKeys.has(key))).toEqual([])
}

describe('kill -9 under load', () => {
  test('of a gateway: its holds end within 30 s, the other one goes on', async ({ house }) => {
    const shop = await house.shop(100_000_000_000n)
    await house.origin.control.setFaults([{ latencyMs: 30 }])
    const load = startLoad(house, shop)
    await underLoad(load, 200)
    await house.gateways[0]!.kill()
    expect(await house.openHolds(shop.project.id)).toBeGreaterThan(0)
    await underLoad(load, 400)
    await house.gateways[0]!.start()
    await underLoad(load, 600)
    await load.stop()
    await expectOrder(house, shop, load)
  })

  test('of a ledger: what it had in hand is asked again', async ({ house }) => {
    const shop = await house.shop(100_000_000_000n)
    const load = startLoad(house, shop)
    for (const answered of [200, 600, 1_000]) {
      await underLoad(load, answered)
      await house.ledgers[0]!.kill()
      await house.ledgers[0]!.start()
    }
    await load.stop()
    await expectOrder(house, shop, load)
  })

  test('an immediate stop of Postgres: callers are refused, and nothing is lost', async ({ house, postgresServer }) => {
    const shop = await house.shop(100_000_000_000n)
    const load = startLoad(house, shop)
    await underLoad(load, 300)
    await postgresServer.stopImmediately()
    await postgresServer.restart()
    const sofar = [...load.answers.values()].filter((one) => one !== null).length
    await underLoad(load, sofar + 300)
    await load.stop()
    await expectOrder(house, shop, load)
  })
})
