import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { KeyFixture } from '@gateway/testbed/fixture'
import { callerAt, type Answer } from './src/caller.ts'
import { flows } from './src/mcp/flows.ts'
import { callOf } from './src/mcp/say.ts'
import { stackTest as test } from './src/stack-test.ts'
import type { Stack, TenantFixture } from './src/stack.ts'

// Like revocation.scenario.ts, for private flows called through invoke and MCP under load. No call made after the response to a
// revocation starts an execution (rules §6.9, architecture §M2).

const CALLS = 1_200
const MAX_CONCURRENT = 16
/** Minimum number of calls of each kind after its access has ended. */
const ENOUGH = 20

interface Kind {
  what: string
  surface: keyof typeof surfaces
  key: KeyFixture
  sandbox: string
  /** Expected refusal code after the revocation, or null if nothing is revoked. */
  refusal: string | null
  revoke: () => Promise<Answer>
}

type Target = Pick<Kind, 'key' | 'sandbox'>

/** Each function returns `done` or the code of the refusal. */
const surfaces = {
  async invoke(url: string, { key, sandbox }: Target): Promise<string> {
    const answer = await post(`${url}/v1/sandbox/${sandbox}/invoke`, key, { input: { topic: 'a' } }, 'application/json')
    return answer.error?.code ?? (answer.status === 'Succeeded' ? 'done' : `an execution ${answer.status}`)
  },
  async mcp(url: string, { key, sandbox }: Target): Promise<string> {
    const accept = 'application/json, text/event-stream'
    const answer = await post(`${url}/v1/sandbox/${sandbox}/mcp`, key, callOf({ topic: 'a' }), accept)
    if (answer.error) return answer.error.code
    const { isError, content } = answer.result!
    return isError ? (JSON.parse(content[0]!.text) as { error: { code: string } }).error.code : 'done'
  },
}

// spec: 5/s7
test(`none of ${CALLS} calls starts an execution after its access has ended [revision_not_active] [key_issuer_denied] [key_revoked]`, async ({
  stack,
}) => {
  const tenant = await stack.tenant(1_000_000n)
  const kinds = await kindsOf(stack, tenant)
  const calls: { kind: Kind; startedMs: number; end: string }[] = []
  let begun = 0
  let last = Infinity
  async function oneCaller(): Promise<void> {
    while (begun < last) {
      const n = begun++
      const kind = kinds[n % kinds.length]!
      const startedMs = performance.now()
      const { url } = stack.gateways[Math.floor(n / kinds.length) % stack.gateways.length]!
      calls.push({ kind, startedMs, end: await surfaces[kind.surface](url, kind) })
    }
  }
  const load = Promise.all(Array.from({ length: MAX_CONCURRENT }, oneCaller))
  const ended = new Map<Kind, number>()
  try {
    for (const [n, kind] of kinds.entries()) {
      if (kind.refusal === null) continue
      while (calls.length < ((n + 1) * CALLS) / (kinds.length + 2))
        await new Promise((resolve) => setTimeout(resolve, 5))
      await untilAnswered(kind.revoke)
      ended.set(kind, performance.now())
    }
  } finally {
    last = Math.max(CALLS, begun + 2 * ENOUGH * kinds.length) // regardless of how long the revocations took
  }
  await load

  for (const kind of kinds) {
    const name = `${kind.what}, by ${kind.surface}`
    const all = calls.filter((call) => call.kind === kind)
    const answeredMs = ended.get(kind)
    if (answeredMs === undefined) {
      expect([name, new Set(all.map((call) => call.end))]).toEqual([name, new Set(['done'])])
      continue
    }
    const after = all.filter(({ startedMs }) => startedMs > answeredMs)
    expect(all.some((call) => call.end === 'done' && call.startedMs < answeredMs)).toBe(true)
    expect(after.length).toBeGreaterThan(ENOUGH)
    expect([name, new Set(after.map((call) => call.end))]).toEqual([name, new Set([kind.refusal])])
  }
})

/** Retries a 503: the revocation took effect but timed out at the ledger's barrier, and a repeat passes it. */
async function untilAnswered(revoke: Kind['revoke']): Promise<void> {
  const first = (await revoke()).status
  if (first !== 503) return expect(first).toBeLessThan(300)
  while ((await revoke()).status === 503);
}

async function kindsOf(stack: Stack, { project, key, owner }: TenantFixture): Promise<Kind[]> {
  const { fixture, gateways } = stack
  const path = `/api/v2/tenants/${project.tenant}`
  const console = callerAt(gateways[0]!.url, (await fixture.token(owner)).secret)
  const flow = async () => (await fixture.sandbox(project, flows.echo(), { mcpEnabled: true })).id
  const kinds: Kind[] = []
  for (const surface of ['invoke', 'mcp'] as const) {
    const [suspended, steady] = [await flow(), await flow()]
    const by = await fixture.issuer(project)
    const [issued, revoked] = [await fixture.key({ project, by }), await fixture.key({ project, by: owner })]
    kinds.push(
      {
        what: 'the flow is suspended',
        surface,
        key,
        sandbox: suspended,
        refusal: 'revision_not_active',
        revoke: () => console.ask('PATCH', `${path}/sandboxes/${suspended}`, { suspended: true }),
      },
      {
        what: 'its creator loses the Consumer grant',
        surface,
        key: issued,
        sandbox: steady,
        refusal: 'key_issuer_denied',
        revoke: () => console.ask('DELETE', `${path}/projects/${project.id}/grants/${by}`),
      },
      {
        what: 'the key is revoked',
        surface,
        key: revoked,
        sandbox: steady,
        refusal: 'key_revoked',
        revoke: () => console.ask('POST', `${path}/keys/${revoked.id}/revoke`),
      },
    )
  }
  const nothing = { what: 'nothing', key, sandbox: await flow(), refusal: null }
  const never = () => Promise.reject(new Error('never'))
  for (const surface of ['invoke', 'mcp'] as const) kinds.push({ ...nothing, surface, revoke: never })
  return kinds
}

interface Body {
  status?: string
  error?: { code: string }
  result?: { isError?: boolean; content: { text: string }[] }
}

async function post(url: string, key: KeyFixture, body: object, accept: string): Promise<Body> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key.secret}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
      accept,
    },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  const line = text.split('\n').findLast((each) => each.startsWith('data: '))
  return JSON.parse(line?.slice('data: '.length) ?? text) as Body
}
