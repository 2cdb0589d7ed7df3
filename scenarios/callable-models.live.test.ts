import fc from 'fast-check'
import { expect } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import type { KeyFixture } from '@gateway/testbed/fixture'
import { answerOf, callerAt, said } from './src/caller.ts'
import { liveStackTest as test } from './src/live-stack-test.ts'
import { chat, type Stack } from './src/stack.ts'

// GET /v1/models and admission agree (rules §4.1). In any state of a project, its flows, its key and the key's creator, a call is
// admitted if and only if its ID is listed. If the list is refused, every call is refused with the same code.

/** The first value five times out of six. */
const mostly = <const T extends string>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) })

const state = fc.record({
  products: fc.array(
    fc.record({
      state: mostly('published', 'draft', 'suspended'),
      kind: mostly('chat', 'image', 'audio'),
      perRequest: fc.boolean(),
      assigned: mostly('here', 'to the neighbour', 'nowhere'),
      listed: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  flows: fc.array(
    fc.record({
      state: mostly('active', 'suspended', 'inactive'),
      shape: mostly('one text', 'two texts'),
      /** The product that the flow calls, if it is a chat product; otherwise the flow calls nothing. */
      calls: fc.nat(6),
      listed: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  policy: fc.constantFrom('all-eligible', 'listed'),
  key: mostly('living', 'revoked', 'expired', 'unbound', 'rotated', 'in its grace'),
  creator: mostly('issuer', 'not in the tenant', 'not in the team', 'without grant', 'Project Viewer'),
  /** Callable doesn't depend on money (rules §4.1). */
  wallet: mostly('full', 'empty'),
})
type State = typeof state extends fc.Arbitrary<infer T> ? T : never

interface CallableFixture {
  key: KeyFixture
  /** Product IDs in the order of the state, then flow IDs. */
  ids: string[]
}

// spec: 1/s5, 2.1/s2, 2.2/r1, 2.2/s2, 4.1/s5, 4.1/s6, 4.1/s8, 4.2/r1, 4.2/s7, 4.2/s13, 4.2/s14, 5/s8, 7/r6, 7/r9
// spec: 8.3/s4
test('GET /v1/models lists exactly the models that can be called', async ({ stack }) => {
  const seen = { listed: 0, listedFlows: 0, unlisted: 0, flows: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(state, async (one) => {
      const { key, ids } = await build(stack, one)
      const caller = callerAt(stack.gateways[0]!.url, key.secret)
      const list = await caller.ask('GET', '/v1/models')
      const entries = (list.body as { data?: { id: string }[] }).data
      const listed = entries?.map(({ id }) => id) ?? []
      if (one.key === 'living' && one.creator === 'issuer')
        expect(listed.toSorted()).toEqual(ids.filter((_, n) => isCallable(one, n)).toSorted())
      for (const [n, model] of [...ids, 'acme/none'].entries()) {
        const call = said(await answerOf(await chat(stack, { key, model }, { gateway: n, body: { max_tokens: 5 } })))
        const shown = said(await caller.ask('GET', `/v1/models/${model}`))
        if (!entries) {
          seen.refused++
          expect([call, shown]).toEqual([said(list), said(list)])
        } else if (listed.includes(model)) {
          seen.listed++
          if (n >= one.products.length) seen.listedFlows++
          expect([call, shown]).toEqual([one.wallet === 'full' ? '200' : '402 insufficient_budget', '200'])
        } else {
          seen.unlisted++
          const scoped = one.policy === 'listed' && isThere(one, n)
          const otherContract = one.flows[n - one.products.length]?.shape === 'two texts' && isThere(one, n)
          const refusal =
            scoped && !isListed(one, n)
              ? '403 key_scope'
              : otherContract
                ? '422 sandbox_contract'
                : '404 model_not_found'
          if (one.flows[n - one.products.length]) seen.flows++
          expect([call, shown]).toEqual([refusal, '404 model_not_found'])
        }
      }
    }),
    { numRuns: 60 },
  )
  console.log(
    `calls of listed models: ${seen.listed} (flows: ${seen.listedFlows}), of others: ${seen.unlisted} (flows: ${seen.flows}), by refused keys: ${seen.refused}`,
  )
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(8)
})

/** Whether the nth ID should be listed and callable. */
function isCallable(one: State, n: number): boolean {
  const flow = one.flows[n - one.products.length]
  return isThere(one, n) && isListed(one, n) && flow?.shape !== 'two texts'
}

/** Whether the nth product or flow is in a callable state, regardless of the key. */
function isThere(one: State, n: number): boolean {
  const { products, flows } = one
  const [product, flow] = [products[n], flows[n - products.length]]
  if (product) return product.kind === 'chat' && product.state === 'published' && product.assigned === 'here'
  if (flow?.state !== 'active') return false
  const called = productOf(one, flow)
  return called === null || isThere(one, called)
}

/** Whether the key's allowlist includes it and everything it calls. */
function isListed(one: State, n: number): boolean {
  const { products, flows, policy } = one
  if (policy === 'all-eligible') return true
  const [product, flow] = [products[n], flows[n - products.length]]
  if (product) return product.listed
  const called = flow ? productOf(one, flow) : null
  return flow?.listed === true && (called === null || isListed(one, called))
}

/** Index of the product that a flow calls, or null if it calls none. */
function productOf({ products }: State, { calls }: State['flows'][number]): number | null {
  return products[calls]?.kind === 'chat' ? calls : null
}

const TEXT = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
const TEXTS = { ...TEXT, properties: { ...TEXT.properties, tone: { type: 'string' } } }

function graphOf(shape: State['flows'][number]['shape'], product: string | null): Graph {
  return {
    input: shape === 'one text' ? TEXT : TEXTS,
    output: TEXT,
    nodes: [
      { id: 'in', kind: 'input' },
      ...(product === null ? [] : [{ id: 'ask', kind: 'product.chat', product, params: { max_tokens: 5 } }]),
      { id: 'out', kind: 'output' },
    ],
    edges:
      product === null
        ? [{ from: 'in.text', to: 'out.text' }]
        : [
            { from: 'in.text', to: 'ask.prompt' },
            { from: 'ask.text', to: 'out.text' },
          ],
  }
}

async function build({ fixture }: Stack, one: State): Promise<CallableFixture> {
  const { products, flows, policy, key, creator, wallet } = one
  const of = await fixture.tenant()
  const project = await fixture.project(of, wallet === 'full' ? 10_000_000n : 0n)
  const neighbour = await fixture.project(of)
  const ids: string[] = []
  for (const { state, kind, perRequest, assigned } of products) {
    const id = await fixture.publishProduct({
      state,
      kind,
      ...((perRequest || kind !== 'chat') && { requestPico: 1_000_000_000n }),
    })
    if (assigned !== 'nowhere') await fixture.assign(assigned === 'here' ? project.id : neighbour.id, id)
    ids.push(id)
  }
  for (const flow of flows) {
    const called = productOf(one, flow)
    const { id } = await fixture.sandbox(project, graphOf(flow.shape, called === null ? null : ids[called]!), {
      activate: flow.state !== 'inactive',
      suspended: flow.state === 'suspended',
    })
    ids.push(id)
  }
  const by = await fixture.issuer(project)
  const made = await fixture.key({
    ...(key === 'unbound' ? { project: null, tenant: of.tenant } : { project }),
    by,
    policy,
    resources: policy === 'listed' ? ids.filter((_, n) => (products[n] ?? flows[n - products.length])!.listed) : [],
    revoked: key === 'revoked',
    ...(key === 'expired' && { expiresInMs: -1 }),
  })
  if (key === 'rotated' || key === 'in its grace') {
    const grace = key === 'rotated' ? null : new Date(Date.now() + 600_000)
    const { id } = await fixture.key({ project, by })
    await fixture.run('UPDATE control.keys SET rotated_to = $2, grace_until = $3 WHERE id = $1', [made.id, id, grace])
  }
  const undo: Partial<Record<State['creator'], string>> = {
    'not in the tenant': 'DELETE FROM control.memberships WHERE user_id = $1',
    'not in the team': 'DELETE FROM control.team_members WHERE user_id = $1',
    'without grant': 'DELETE FROM control.project_grants WHERE user_id = $1',
    'Project Viewer': `UPDATE control.project_grants SET role = 'Project Viewer' WHERE user_id = $1`,
  }
  const lost = undo[creator]
  if (lost) await fixture.run(lost, [by])
  return { key: made, ids }
}
