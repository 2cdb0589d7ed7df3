import type { ProviderTest } from '@gateway/api/console/provider-health'
import type { ProductProviders } from '@gateway/api/console/products'
import { refuse } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeOnPlatform } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { invalidField } from '../request/check.ts'
import { userOf } from '../sign-in/user.ts'

// Test calls of providers (rules §7.12). The console has no credentials of providers, so it stores what to test; a gateway
// or worker takes it with its next report.

type Deps = Pick<ConsoleDeps, 'prisma' | 'now' | 'newId'>

const PER_MINUTE = 10
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** The process that took a test has ended without a result: the call itself takes at most half a minute. */
const LOST_MS = 2 * MINUTE_MS
const KEPT_MS = 8 * 24 * HOUR_MS
const SHOWN = 5

/** POST /api/v2/providers/tests */
export function testProvider({ prisma, now, newId }: Deps): Handler<'testProvider'> {
  return async (call, res) => {
    const user = userOf(res)
    authorizeOnPlatform(user, 'providers.test')
    const { provider, product: id } = await call.body()
    const product = await prisma.product.findUnique({ where: { id }, select: { kind: true, providers: true } })
    const route = (product?.providers as ProductProviders | undefined)?.find((each) => each.provider === provider)
    if (!product || !route) throw refuse('not_found', {})
    if (product.kind !== 'chat' && product.kind !== 'embedding')
      throw invalidField(
        'product',
        'makes images or audio, which a test would pay for.',
        'Name a chat or embedding product.',
      )
    const requestedAt = now()
    const ago = (ms: number) => new Date(requestedAt.getTime() - ms)
    const data = { id: newId('tst'), provider, product: id, kind: product.kind, model: route.model, requestedAt }
    const test = await prisma.$transaction(async (tx) => {
      // Requests at the same time are counted one after another.
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('control.provider_tests'))`
      await tx.providerTest.deleteMany({ where: { requestedAt: { lt: ago(KEPT_MS) } } })
      const recent = await tx.providerTest.count({ where: { requestedAt: { gt: ago(MINUTE_MS) } } })
      if (recent >= PER_MINUTE) throw refuse('rate_limited', {})
      const details = { product: id, model: route.model }
      await recordChange(tx, { tenant: null, user: user.id, action: 'provider.test', subject: provider, details })
      return tx.providerTest.create({ data })
    })
    res.status(201).json(testRecord(test, requestedAt))
  }
}

type TestRow = Awaited<ReturnType<typeof readTests>>[number]

/** Test calls of the last hour, newest first. */
export function readTests({ prisma, now }: Pick<Deps, 'prisma' | 'now'>) {
  const since = new Date(now().getTime() - HOUR_MS)
  return prisma.providerTest.findMany({ where: { requestedAt: { gt: since } }, orderBy: { id: 'desc' } })
}

/** The tests of one provider as the API shows them. */
export function latestTests(rows: readonly TestRow[], provider: string, now: Date): ProviderTest[] {
  return rows
    .filter((row) => row.provider === provider)
    .slice(0, SHOWN)
    .map((row) => testRecord(row, now))
}

function testRecord(row: TestRow, now: Date): ProviderTest {
  const { failure, status, code } = row
  return {
    id: row.id,
    provider: row.provider,
    product: row.product,
    model: row.model,
    requestedAt: row.requestedAt.toISOString(),
    state: stateOf(row, now.getTime() - row.requestedAt.getTime()),
    service: row.service as ProviderTest['service'],
    latencyMs: row.latencyMs,
    failure: failure === null ? null : { kind: failure, status, code },
  }
}

function stateOf({ sender, latencyMs, failure }: TestRow, ageMs: number): ProviderTest['state'] {
  if (latencyMs !== null) return failure === null ? 'succeeded' : 'failed'
  if (sender === null) return ageMs > MINUTE_MS ? 'expired' : 'waiting'
  return ageMs > LOST_MS ? 'expired' : 'running'
}
