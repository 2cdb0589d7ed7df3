import fc from 'fast-check'
import { expect } from 'vitest'
import type { KeyFixture } from '@gateway/testbed/fixture'
import { answerOf, callerAt, said } from './src/caller.ts'
import { stackTest as test } from './src/stack-test.ts'
import { chat, type Stack } from './src/stack.ts'

// GET /v1/models and admission agree (spec 4.1): in any state of a project, its key and its creator, each id that is listed
// can be called now, no other one can, and where the list is refused each call is, with the same code.

/** Five times out of six the first of them. */
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
  policy: fc.constantFrom('all-eligible', 'listed'),
  key: mostly('living', 'revoked', 'expired', 'unbound', 'rotated', 'in its grace'),
  creator: mostly('issuer', 'not in the tenant', 'not in the team', 'without grant', 'Project Viewer'),
  /** "Callable" says nothing of money (decisions.md, 2). */
  wallet: mostly('full', 'empty'),
})
type State = typeof state extends fc.Arbitrary<infer T> ? T : never

interface CallableFixture {
  key: KeyFixture
  /** What each product is called, in the order of the state's. */
  ids: string[]
}

test('what is listed can be called, and what is not listed can not', async ({ stack }) => {
  const seen = { listed: 0, unlisted: 0, refused: 0 }
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
          expect([call, shown]).toEqual([one.wallet === 'full' ? '200' : '402 insufficient_budget', '200'])
        } else {
          seen.unlisted++
          const scoped = one.policy === 'listed' && isCallable({ ...one, policy: 'all-eligible' }, n)
          expect([call, shown]).toEqual([scoped ? '403 key_scope' : '404 model_not_found', '404 model_not_found'])
        }
      }
    }),
    { numRuns: 120 },
  )
  console.log(`calls of listed models: ${seen.listed}, of others: ${seen.unlisted}, by refused keys: ${seen.refused}`)
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(20)
})

function isCallable({ products, policy }: State, n: number): boolean {
  const product = products[n]
  if (!product || product.kind !== 'chat' || product.state !== 'published' || product.assigned !== 'here') return false
  return policy === 'all-eligible' || product.listed
}

async function build({ fixture }: Stack, { products, policy, key, creator, wallet }: State): Promise<CallableFixture> {
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
  const by = await fixture.issuer(project)
  const made = await fixture.key({
    ...(key === 'unbound' ? { project: null, tenant: of.tenant } : { project }),
    by,
    policy,
    resources: policy === 'listed' ? ids.filter((_, n) => products[n]!.listed) : [],
    revoked: key === 'revoked',
    ...(key === 'expired' && { expiresInMs: -1 }),
  })
  if (key === 'rotated' || key === 'in its grace') {
    const grace = key === 'rotated' ? null : new Date(Date.now() + 600_000)
    const { id } = await fixture.key({ project, by })
    await fixture.run('UPDATE control.keys SET rotated_to = $2, grace_until = $3 WHERE id = $1', [made.id, id, grace])
  }
  const undo: Partial<Record<State['creator'], string>> = {
    'not in the tenant': 'DELETE FROM control.memberships WHERE person = $1',
    'not in the team': 'DELETE FROM control.team_members WHERE person = $1',
    'without grant': 'DELETE FROM control.project_grants WHERE person = $1',
    'Project Viewer': `UPDATE control.project_grants SET role = 'Project Viewer' WHERE person = $1`,
  }
  const lost = undo[creator]
  if (lost) await fixture.run(lost, [by])
  return { key: made, ids }
}
