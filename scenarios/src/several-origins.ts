import { expect } from 'vitest'
import { startSimulatedOrigin } from '@gateway/simulated-origin/start-origin'
import { liveTest } from '@gateway/testbed/live-test'
import { openHouse, type Shop } from './house.ts'

const never = 1_000_000
/** Most tests have origins of their own, so that none rests for what another test did. */
export const origins = {
  chat: { at: 'first', kind: 'openai-compatible', circuitFailures: never },
  messages: { at: 'second', kind: 'anthropic', circuitFailures: never },
  frail: { at: 'first', kind: 'openai-compatible', tries: 1, circuitFailures: 3, circuitRestMs: 200 },
  lonely: { at: 'first', kind: 'openai-compatible', tries: 1, circuitFailures: 3, circuitRestMs: 60_000 },
  doomed: { at: 'third', kind: 'openai-compatible', circuitFailures: never },
} as const

export type OriginName = keyof typeof origins

const parameters = ['temperature', 'stop', 'max_tokens', 'tools', 'tool_choice', 'response_format', 'reasoning_effort']

/** `test` with a house whose products have several origins: `shopOf` names those that serve a test's own product. */
export const severalOriginsTest = liveTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('servers', { scope: 'file' }, async ({}, { onCleanup }) => {
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => startSimulatedOrigin()))
    const servers = { first: first!, second: second!, third: third! }
    onCleanup(async () => void (await Promise.all(Object.values(servers).map((server) => server.stop()))))
    return servers
  })
  .extend('house', { scope: 'file' }, async ({ database, redis, servers }, { onCleanup }) => {
    const ORIGINS = JSON.stringify(
      Object.fromEntries(
        Object.entries(origins).map(([name, { at, ...settings }]) => [
          name,
          { ...settings, baseUrl: `${servers[at].url}/v1`, allowPrivateAddress: true },
        ]),
      ),
    )
    const house = await openHouse({
      adminUrl: database.adminUrl,
      ledgerUrl: database.ledgerUrl,
      redisUrl: redis.url,
      environment: { gateway: () => ({ ORIGINS }) },
    })
    onCleanup(house.close)
    return house
  })
  .extend('shopOf', async ({ house, servers }) => {
    for (const { control } of Object.values(servers)) {
      await control.clearFaults()
      await control.clearCalls()
    }
    /** A project and a product that these origins serve, in order. */
    return async (names: OriginName[], model = 'tapir-large'): Promise<Shop> => {
      const shop = await house.shop(10_000_000n)
      const product = await house.world.product({
        promptPico: 1_000_000n,
        completionPico: 1_000_000n,
        supportedParameters: parameters,
        origins: names.map((origin, priority) => ({ origin, model, priority })),
      })
      await house.world.assign(shop.project.id, product)
      return { ...shop, model: product }
    }
  })
  .extend('expectCharges', async ({ house }) => {
    /** So many calls were settled, each for what it used, and nothing is held. */
    return async ({ project }: Shop, settledCalls: number, tokens: number): Promise<void> => {
      await house.untilNothingIsHeld(project.id, 5_000)
      const calls = await house.invocations(project.id)
      expect(calls.filter(({ state }) => state === 'Settled')).toHaveLength(settledCalls)
      expect(await house.wallet(project.id)).toMatchObject({ reserved: 0n, settled: BigInt(tokens) })
      expect(await house.findings([project.id])).toEqual([])
    }
  })
