import type { ProductPricing } from '@gateway/api/console/products'
import { expect } from 'vitest'
import { startSimulatedProvider } from '@gateway/simulated-provider/start-provider'
import { liveTest } from '@gateway/testbed/live-test'
import { openLiveStack, type TenantFixture } from './stack.ts'

const never = 1_000_000
/** Tests use different providers, so that no test opens the circuit of another. */
export const providers = {
  chat: { at: 'first', kind: 'openai-compatible', circuitFailures: never },
  messages: { at: 'second', kind: 'anthropic', circuitFailures: never },
  doomed: { at: 'third', kind: 'openai-compatible', circuitFailures: never },
  responses: { at: 'first', kind: 'openai-responses', circuitFailures: never },
  azure: { at: 'first', kind: 'azure-openai', path: '/openai/v1', apiKey: 'sk-canary', circuitFailures: never },
  gemini: { at: 'first', kind: 'gemini', path: '/v1beta', apiKey: 'sk-canary', circuitFailures: never },
  bedrock: { at: 'first', kind: 'bedrock', path: '', region: 'us-east-1', apiKey: 'sk-canary', circuitFailures: never },
} as const satisfies Record<string, { at: string; kind: string; path?: string; [setting: string]: unknown }>

export type ProviderName = keyof typeof providers

const parameters = ['temperature', 'stop', 'max_tokens', 'tools', 'tool_choice', 'response_format', 'reasoning_effort']

/** `test` with a stack with several providers. `tenantOf` creates a product served by the named ones. */
export const severalProvidersTest = liveTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('servers', { scope: 'file' }, async ({}, { onCleanup }) => {
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => startSimulatedProvider()))
    const servers = { first: first!, second: second!, third: third! }
    onCleanup(async () => void (await Promise.all(Object.values(servers).map((server) => server.stop()))))
    return servers
  })
  .extend('stack', { scope: 'file' }, async ({ database, redis, servers }, { onCleanup }) => {
    const PROVIDERS = JSON.stringify(
      Object.fromEntries(
        Object.entries(providers).map(([name, provider]) => {
          const { at, path = '/v1', ...settings } = { path: undefined, ...provider }
          return [name, { ...settings, baseUrl: `${servers[at].url}${path}`, allowPrivateAddress: true }]
        }),
      ),
    )
    const stack = await openLiveStack({
      adminUrl: database.adminUrl,
      ledgerUrl: database.ledgerUrl,
      redisUrl: redis.url,
      environment: { gateway: () => ({ PROVIDERS }) },
    })
    onCleanup(stack.close)
    return stack
  })
  .extend('tenantOf', async ({ stack, servers }) => {
    for (const { control } of Object.values(servers)) {
      await control.clearFaults()
      await control.clearCalls()
    }
    /** A project and a product served by these providers, in order, and what each charges. */
    return async (
      names: ProviderName[],
      model = 'tapir-large',
      costs: ProductPricing[] = [],
    ): Promise<TenantFixture> => {
      const tenant = await stack.tenant(10_000_000n)
      const product = await stack.fixture.publishProduct({
        promptPico: 1_000_000n,
        completionPico: 1_000_000n,
        supportedParameters: parameters,
        maxTokensPerImage: 1024,
        providers: names.map((provider, priority) => {
          const cost = costs[priority]
          return { provider, model, priority, ...(cost && { cost }) }
        }),
      })
      await stack.fixture.assign(tenant.project.id, product)
      return { ...tenant, model: product }
    }
  })
  .extend('expectCharges', async ({ stack }) => {
    /** Asserts the number of settled calls and their total tokens, and that nothing is reserved. */
    return async ({ project }: TenantFixture, settledCalls: number, tokens: number): Promise<void> => {
      await stack.untilNothingIsReserved(project.id, 5_000)
      const calls = await stack.invocations(project.id)
      expect(calls.filter(({ state }) => state === 'Settled')).toHaveLength(settledCalls)
      expect(await stack.wallet(project.id)).toMatchObject({ reserved: 0n, settled: BigInt(tokens) })
      expect(await stack.findings([project.id])).toEqual([])
    }
  })
