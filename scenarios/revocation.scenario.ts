import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { answerOf, callerAt, refusalIn, type Answer, type Caller } from './src/caller.ts'
import { harmedStackTest as test } from './src/harmed-stack-test.ts'
import { chat, type Stack, type TenantFixture } from './src/stack.ts'

// A revocation takes effect on every replica: no call made after the response to the revocation is admitted (rules §6.5, architecture
// §M2). Covers every kind of revocation, on one busy wallet.

const CALLS = 10_000
const MAX_CONCURRENT = 200
/** Minimum number of calls of each kind after its access has ended. */
const ENOUGH = 50
/** A revocation takes under a second on a dedicated machine; here all processes share two cores. */
const MOST_MS = 5_000

interface Kind {
  what: string
  /** Expected refusal code after the revocation, or null if nothing is revoked. */
  refusal: string | null
  caller: Pick<TenantFixture, 'key' | 'model'>
  revoke: () => Promise<Answer>
}

interface Call {
  kind: Kind
  startedMs: number
  /** `200`, or the code of the refusal. */
  end: string
}

// spec: 3.2/s3, 4.2/s13, 5/s7
test(`none of ${CALLS} calls is admitted after its access has ended [key_revoked] [key_issuer_denied] [model_not_found]`, async ({
  stack,
}) => {
  const tenant = await stack.tenant(1_000_000_000_000n)
  const kinds = await kindsOf(stack, tenant)
  const calls: Call[] = []
  let begun = 0
  let last = Infinity

  async function oneCaller(): Promise<void> {
    while (begun < last) {
      const n = begun++
      const kind = kinds[n % kinds.length]!
      const startedMs = performance.now()
      const answer = await answerOf(await chat(stack, kind.caller, { gateway: Math.floor(n / kinds.length) }))
      calls.push({ kind, startedMs, end: answer.status === 200 ? '200' : (refusalIn(answer)?.code ?? 'unexplained') })
    }
  }
  async function answered(count: number): Promise<void> {
    while (calls.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  const load = Promise.all(Array.from({ length: MAX_CONCURRENT }, oneCaller))
  const ended = new Map<Kind, { ms: number; answeredMs: number; admitted: number; requestId: string }>()
  try {
    for (const [n, kind] of kinds.entries()) {
      if (kind.refusal === null) continue
      await answered(Math.floor(((n + 1) * CALLS) / (kinds.length + 2)))
      const startedMs = performance.now()
      const { status, headers } = await kind.revoke()
      const answeredMs = performance.now()
      expect(status).toBeLessThan(300)
      const requestId = headers.get('x-request-id')!
      ended.set(kind, { ms: answeredMs - startedMs, answeredMs, admitted: await admittedOf(stack, kind), requestId })
    }
  } finally {
    last = Math.max(CALLS, begun + 2 * ENOUGH * kinds.length) // regardless of how long the revocations took
  }
  await load

  const report: string[] = []
  for (const kind of kinds) {
    const all = calls.filter((call) => call.kind === kind)
    const end = ended.get(kind)
    if (!end) {
      expect(countEnds(all)).toEqual({ 200: all.length })
      continue
    }
    const after = all.filter(({ startedMs }) => startedMs > end.answeredMs)
    expect(all.some((call) => call.end === '200' && call.startedMs < end.answeredMs)).toBe(true)
    expect(after.length).toBeGreaterThan(ENOUGH)
    expect([kind.what, countEnds(after)]).toEqual([kind.what, { [kind.refusal!]: after.length }])
    expect([kind.what, await admittedOf(stack, kind)]).toEqual([kind.what, end.admitted])
    expect(end.ms).toBeLessThan(MOST_MS)
    const served = await servedMs(stack, end.requestId)
    report.push(
      `${kind.what}: ${end.ms.toFixed(0)} ms (the console: ${served.toFixed(0)} ms), then ${after.length} calls, 0 admitted`,
    )
  }
  console.log(`${calls.length} calls, ${MAX_CONCURRENT} at once, on one wallet\n  ${report.join('\n  ')}`)
  await stack.untilNothingIsReserved(tenant.project.id, 10_000)
  expect(await stack.findings([tenant.project.id])).toEqual([])
})

// spec: 4.2/s12
test('a revocation returns only after every admission that read the earlier state has ended', async ({ stack }) => {
  const tenant = await stack.tenant(1_000_000n)
  const { run } = stack.fixture // one session
  for (const kind of await kindsOf(stack, tenant)) {
    if (kind.refusal === null) continue
    // An admission locks the wallet while it reads the caller's access.
    await run('BEGIN')
    await run('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [tenant.project.id])
    let answered = false
    const revoked = kind.revoke().finally(() => (answered = true))
    while (!answered && !(await isBlockedByUs(stack)));
    expect([kind.what, answered]).toEqual([kind.what, false])
    await run('COMMIT')
    expect((await revoked).status).toBeLessThan(300)
    const call = await answerOf(await chat(stack, kind.caller, { gateway: 1 }))
    expect([kind.what, refusalIn(call)?.code]).toEqual([kind.what, kind.refusal])
  }
})

async function isBlockedByUs({ fixture }: Stack): Promise<boolean> {
  const { rowCount } = await fixture.run(
    'SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))',
  )
  return rowCount !== 0
}

/** Each way to end access, with a caller who loses it, plus one who keeps it. */
async function kindsOf(stack: Stack, { project, key, owner, model }: TenantFixture): Promise<Kind[]> {
  const { fixture } = stack
  const tenantId = `/api/v2/tenants/${project.tenant}`
  const admin = await signIn(stack, owner)
  const operator = await signIn(stack, await fixture.user({ platformOperator: true }))
  const publishAssigned = async () => {
    const product = await fixture.publishProduct({ promptPico: 1_000_000n, completionPico: 1_000_000n })
    await fixture.assign(project.id, product)
    return product
  }
  const issued = async () => {
    const by = await fixture.issuer(project)
    return { by, key: await fixture.key({ project, by }) }
  }
  const [byGrant, byRole, byTeam, byMembership] = [await issued(), await issued(), await issued(), await issued()]
  const [revoked, rotated] = [await fixture.key({ project, by: owner }), await fixture.key({ project, by: owner })]
  const [unassigned, suspended] = [await publishAssigned(), await publishAssigned()]
  return [
    {
      what: 'the key is revoked',
      refusal: 'key_revoked',
      caller: { key: revoked, model },
      revoke: () => admin.ask('POST', `${tenantId}/keys/${revoked.id}/revoke`),
    },
    {
      what: 'its creator loses the grant',
      refusal: 'key_issuer_denied',
      caller: { key: byGrant.key, model },
      revoke: () => admin.ask('DELETE', `${tenantId}/projects/${project.id}/grants/${byGrant.by}`),
    },
    {
      what: 'its creator becomes a Viewer',
      refusal: 'key_issuer_denied',
      caller: { key: byRole.key, model },
      revoke: () =>
        admin.ask('POST', `${tenantId}/projects/${project.id}/grants`, { user: byRole.by, role: 'Project Viewer' }),
    },
    {
      what: 'its creator leaves the team',
      refusal: 'key_issuer_denied',
      caller: { key: byTeam.key, model },
      revoke: () => admin.ask('DELETE', `${tenantId}/teams/${project.team}/members/${byTeam.by}`),
    },
    {
      what: 'its creator leaves the organization',
      refusal: 'key_issuer_denied',
      caller: { key: byMembership.key, model },
      revoke: () => admin.ask('DELETE', `${tenantId}/members/${byMembership.by}`),
    },
    {
      what: 'the product is no longer assigned',
      refusal: 'model_not_found',
      caller: { key, model: unassigned },
      revoke: () =>
        admin.ask('DELETE', `${tenantId}/projects/${project.id}/assignments/${encodeURIComponent(unassigned)}`),
    },
    {
      what: 'the product is suspended',
      refusal: 'model_not_found',
      caller: { key, model: suspended },
      revoke: () => operator.ask('PATCH', `/api/v2/products/${encodeURIComponent(suspended)}`, { state: 'suspended' }),
    },
    {
      what: 'the key is rotated without grace',
      refusal: 'key_revoked',
      caller: { key: rotated, model },
      revoke: () => admin.ask('POST', `${tenantId}/keys/${rotated.id}/rotate`),
    },
    { what: 'nothing', refusal: null, caller: { key, model }, revoke: () => Promise.reject(new Error('never')) },
  ]
}

async function signIn({ gateways, fixture }: Stack, user: string): Promise<Caller> {
  return callerAt(gateways[0]!.url, (await fixture.token(user)).secret)
}

function countEnds(calls: Call[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { end } of calls) counts[end] = (counts[end] ?? 0) + 1
  return counts
}

/** Time the console took for a request, barrier included. Excludes the time the response waits behind callers in this process. */
async function servedMs({ consoles }: Stack, requestId: string): Promise<number> {
  const logs = await Promise.all(consoles.map(({ logFile }) => readFile(logFile, 'utf8')))
  const line = logs
    .flatMap((log) => log.split('\n'))
    .find((one) => one.includes(`"${requestId}"`) && one.includes('"ms":'))
  return (JSON.parse(line!) as { ms: number }).ms
}

/** Total calls of this kind ever admitted, from the books. It stays constant after a revocation, even for calls in progress. */
async function admittedOf({ fixture }: Stack, { caller }: Kind): Promise<number> {
  const { rows } = await fixture.run(
    `SELECT count(*)::int AS calls FROM (SELECT key, product FROM money.attempts
       UNION ALL SELECT key, product FROM money.reservations) c WHERE key = $1 AND product = $2`,
    [caller.key.id, caller.model],
  )
  return (rows[0] as { calls: number }).calls
}
