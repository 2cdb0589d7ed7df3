import { expect } from 'vitest'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { liveTest } from '@gateway/testbed/live-test'
import { startBalancer, type Balancer } from './src/balancer.ts'
import { retryingClient, type RetryingClient, type Repeated } from './src/retrying-client.ts'
import { openLiveStack, type Stack, type TenantFixture } from './src/stack.ts'

// Follows "Replace a service key" in docs/operating.md under load: no caller is refused, and the old key is rejected at the end.

const CALLERS = 4
const BETWEEN = 15

const test = liveTest.extend('stack', async ({ database, redis }, { onCleanup }) => {
  const ledgers: string[] = []
  const balancer = Promise.withResolvers<Balancer>()
  const stack = await openLiveStack({
    ...database,
    redisUrl: redis.url,
    ledgers: 2,
    gateways: 2,
    async through(url) {
      if (!ledgers.includes(url)) ledgers.push(url)
      if (ledgers.length === 2) balancer.resolve(await startBalancer(ledgers))
      return (await balancer.promise).url
    },
  })
  onCleanup(async () => {
    await stack.close()
    await (await balancer.promise).stop()
  })
  return stack
})

test('replacing the gateway’s service key refuses no call', async ({ stack }) => {
  const tenant = await stack.tenant(100_000_000n)
  const old = stack.secrets.gateway
  const fresh = newServiceKeys()
  const load = startLoad(stack, tenant)
  await load.answered(BETWEEN)

  const both = { SERVICE_PUBLIC_KEYS_GATEWAY: fresh.publicKey + stack.gatewayPublicKey }
  await restart(stack.ledgers, both, load)
  await restart(stack.gateways, { SERVICE_PRIVATE_KEY: fresh.privateKey }, load)
  await restart(stack.ledgers, { SERVICE_PUBLIC_KEYS_GATEWAY: fresh.publicKey }, load)

  const { statuses, repeated } = await load.stop()
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  // Retries happened only because a gateway restarted, never because the ledger was unavailable.
  expect(repeated.filter((why) => why === '503 with Retry-After')).toEqual([])

  // The old key is rejected.
  await stack.gateways[0]!.stop()
  const refused = stack.gateways[0]!.start({ SERVICE_PRIVATE_KEY: old }).then(
    () => 'ready',
    () => 'never ready',
  )
  await load.answeredBy(stack.gateways[1]!.url, tenant, BETWEEN)
  await stack.gateways[0]!.stop()
  expect(await refused).toBe('never ready')
}, 300_000)

async function restart(
  programs: Stack['gateways'],
  settings: Record<string, string>,
  load: ReturnType<typeof startLoad>,
): Promise<void> {
  for (const program of programs) {
    await program.stop()
    await load.answered(BETWEEN) // the other replica serves
    await program.start(settings)
    await load.answered(BETWEEN)
  }
}

function startLoad(stack: Stack, tenant: TenantFixture) {
  const statuses: number[] = []
  const clients: RetryingClient[] = []
  let going = true
  let asked = 0
  const chat = (client: RetryingClient) =>
    client.ask('/v1/chat/completions', {
      model: tenant.model,
      messages: [{ role: 'user', content: `rotation ${asked++}` }],
      max_tokens: 10,
    })
  const callers = Array.from({ length: CALLERS }, async (_, n) => {
    const client = retryingClient(stack, tenant.key.secret, n)
    clients.push(client)
    while (going) statuses.push((await chat(client)).status)
  })
  return {
    /** Resolves once this many more calls have been answered. */
    async answered(count: number): Promise<void> {
      for (const enough = statuses.length + count; statuses.length < enough;)
        await new Promise((resolve) => setTimeout(resolve, 20))
    },
    async answeredBy(url: string, { key, model }: TenantFixture, count: number): Promise<void> {
      const one = retryingClient({ gateways: [{ url }] as Stack['gateways'] }, key.secret, 0)
      const body = { model, messages: [{ role: 'user', content: 'after' }], max_tokens: 10 }
      for (let n = 0; n < count; n++) expect((await one.ask('/v1/chat/completions', body)).status).toBe(200)
    },
    async stop(): Promise<{ statuses: number[]; repeated: Repeated[] }> {
      going = false
      await Promise.all(callers)
      return { statuses, repeated: clients.flatMap((client) => [...client.repeated]) }
    },
  }
}
