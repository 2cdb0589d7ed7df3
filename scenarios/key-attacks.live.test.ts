import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { ask } from '@gateway/testbed/ask'
import { answerOf, callerAt, refusalIn, said, type Answer, type Caller } from './src/caller.ts'
import { liveStackTest } from './src/live-stack-test.ts'
import { chat } from './src/stack.ts'

// Attempts to move a key to another project, widen it, or duplicate it (architecture §S4, §S6, §S8, §S9).

const test = liveStackTest.extend('owned', async ({ stack }) => {
  const tenant = await stack.tenant(1_000_000n)
  const caller = callerAt(stack.gateways[0]!.url, (await stack.fixture.token(tenant.owner)).secret)
  const path = `/api/v2/tenants/${tenant.project.tenant}/keys`
  return { ...tenant, caller, path }
})

describe('a key’s binding', () => {
  // spec: 1/s2, 2.1/r4, 2.1/s2, 3.2/s3, 5/s2
  test('is immutable: neither the console’s database role nor the table owner can change any column that grants access', async ({
    stack,
    owned,
    database,
  }) => {
    const other = await stack.fixture.project({ ...owned.project, owner: owned.owner })
    const changes = [
      `project = '${other.id}'`,
      'project = NULL',
      `tenant = (SELECT id FROM control.tenants WHERE id <> tenant LIMIT 1)`,
      `lineage = 'key_other'`,
      `hash = decode('${randomBytes(32).toString('hex')}', 'hex')`,
      `policy = 'listed'`,
      `limit_micro = 1, limit_reset = 'daily'`,
      `created_by = '${await stack.fixture.user()}'`,
      `expires_at = expires_at + interval '1 day'`,
      `rotated_from = 'key_other'`,
      `tag = 'another'`,
    ]
    for (const url of [database.consoleUrl, database.adminUrl])
      for (const change of changes)
        await expect(ask(url, `UPDATE control.keys SET ${change} WHERE id = '${owned.key.id}'`)).rejects.toThrow(
          /for life/,
        )
    const legacy = await stack.fixture.key({ project: null, tenant: owned.project.tenant, by: owned.owner })
    await expect(
      ask(database.consoleUrl, `UPDATE control.keys SET project = '${other.id}' WHERE id = '${legacy.id}'`),
    ).rejects.toThrow(/for life/)
  })

  // spec: 1/s2
  test('cannot be changed through any route [method_not_allowed]', async ({ owned }) => {
    const change = async (method: string, body: object) =>
      said(await owned.caller.ask(method, `${owned.path}/${owned.key.id}`, body))
    for (const method of ['PUT', 'DELETE', 'POST'])
      expect(await change(method, { project: 'prj_other' })).toBe('405 method_not_allowed')
    expect(await change('PATCH', { name: 'A key', project: 'prj_other' })).toBe('400 invalid_request')
  })
})

describe('a selector naming another project', () => {
  // spec: 4.5/s1, 4.5/r1, 4.5/r2
  test('moves no money and stores nothing, in a header or the body [project_mismatch]', async ({ stack, owned }) => {
    const other = await stack.tenant(1_000_000n)
    const books = async () => {
      const { rows } = await stack.fixture.run(
        `SELECT (SELECT count(*) FROM money.journal WHERE project = ANY ($1))::int AS entries,
                (SELECT count(*) FROM money.reservations WHERE project = ANY ($1))::int AS held,
                (SELECT count(*) FROM money.attempts WHERE project = ANY ($1))::int AS calls,
                (SELECT count(*) FROM money.idempotency_keys WHERE project = ANY ($1))::int AS keyed`,
        [[owned.project.id, other.project.id]],
      )
      return rows[0] as object
    }
    const [own, foreign] = [owned.project.id, other.project.id]
    const before = await books()
    const mismatches: [headers: Record<string, string>, body?: object][] = [
      [{ 'x-service-project': foreign }],
      [{ 'x-project-id': foreign }],
      [{}, { project_id: foreign }],
      [{ 'x-service-project': own, 'x-project-id': foreign }],
      [{ 'x-service-project': foreign, 'x-project-id': own }, { project_id: own }],
      [{ 'x-service-project': own, 'x-project-id': own }, { project_id: foreign }],
      [{ 'x-service-project': own.toUpperCase() }],
      [{ 'x-service-project': `${own} ${own}` }],
      [{ 'x-service-project': '' }],
    ]
    for (const model of [owned.model, other.model, 'acme/none'])
      for (const [headers, body = {}] of mismatches) {
        const keyed = { ...headers, 'idempotency-key': randomUUID() }
        const answer = await answerOf(await chat(stack, { key: owned.key, model }, { headers: keyed, body }))
        expect(said(answer)).toBe('403 project_mismatch')
      }
    expect(await books()).toEqual(before)
    const agreeing = { 'x-service-project': own, 'x-project-id': own }
    expect((await chat(stack, owned, { headers: agreeing, body: { project_id: own } })).status).toBe(200)
  })
})

describe('concurrent key changes', () => {
  const ROUNDS = 10
  const newKey = async ({ caller, path, project }: { caller: Caller; path: string; project: { id: string } }) => {
    const { body } = await caller.ask('POST', path, { project: project.id })
    const { key, secret } = body as { key: { id: string }; secret: string }
    return { id: key.id, secret }
  }
  type NewKey = Awaited<ReturnType<typeof newKey>>
  const replacementOf = (answer: Answer): NewKey => {
    const { key, secret } = answer.body as { key: { id: string }; secret: string }
    return { id: key.id, secret }
  }
  const atOnce = <T>(tries: (() => Promise<T>)[]) => Promise.all(tries.map((one) => one()))

  test('concurrent rotations create one replacement, and calls succeed with the old or the new key [key_not_active]', async ({
    stack,
    owned,
  }) => {
    const { caller, path } = owned
    const use = async ({ secret }: NewKey, gateway = 0) =>
      said(await answerOf(await chat(stack, { ...owned, key: { ...owned.key, secret } }, { gateway })))
    for (let round = 0; round < ROUNDS; round++) {
      const old = await newKey(owned)
      const itself = callerAt(stack.gateways[0]!.url, old.secret)
      const rotate = (by: Caller) => () => by.ask('POST', `${path}/${old.id}/rotate`, {})
      const [rotations, uses] = await Promise.all([
        atOnce([caller, itself, caller, itself, caller, itself].map(rotate)),
        atOnce(Array.from({ length: 10 }, (_, n) => () => use(old, n))),
      ])
      const won = rotations.filter(({ status }) => status === 201)
      expect(won).toHaveLength(1)
      const replacement = replacementOf(won[0]!)
      for (const answer of rotations.filter(({ status }) => status !== 201)) {
        expect(['409 key_not_active', '401 key_revoked']).toContain(said(answer)) // the latter for a rotation by the old key itself
        const { code, details, resolution } = refusalIn(answer)!
        expect(resolution).toContain(replacement.id)
        if (code === 'key_not_active') expect(details).toEqual({ state: 'Rotated', rotatedTo: replacement.id })
      }
      expect(new Set(uses).isSubsetOf(new Set(['200', '401 key_revoked']))).toBe(true)
      expect([await use(old), await use(replacement)]).toEqual(['401 key_revoked', '200'])
      const { rows } = await stack.fixture.run('SELECT id FROM control.keys WHERE rotated_from = $1', [old.id])
      expect(rows).toEqual([{ id: replacement.id }])
    }
  })

  for (const graceSeconds of [0, 600])
    test(`a rotation with ${graceSeconds} s of grace and a concurrent revocation leave no key unreported [key_not_active]`, async ({
      stack,
      owned,
    }) => {
      const { caller, path } = owned
      const use = async ({ secret }: NewKey) =>
        said(await callerAt(stack.gateways[0]!.url, secret).ask('GET', '/v1/key'))
      const seen = new Set<string>()
      for (let round = 0; round < ROUNDS; round++) {
        const old = await newKey(owned)
        const rotate = () => caller.ask('POST', `${path}/${old.id}/rotate`, { graceSeconds })
        const revoke = () => caller.ask('POST', `${path}/${old.id}/revoke`)
        /** Delays the second by more each round; in the last rounds it starts after the first has been answered. */
        const inTurn = async (first: () => Promise<Answer>, second: () => Promise<Answer>) => {
          const answer = first()
          await (round < ROUNDS - 2 ? new Promise((resolve) => setTimeout(resolve, round)) : answer)
          return Promise.all([answer, second()])
        }
        const [rotated, revoked] =
          round % 2 === 1
            ? await inTurn(rotate, revoke)
            : ((await inTurn(revoke, rotate)).toReversed() as [Answer, Answer])
        const end = [rotated, revoked].map(said).join(', ')
        seen.add(end)
        expect(
          graceSeconds === 0
            ? ['201, 409 key_not_active', '409 key_not_active, 200']
            : ['201, 200', '409 key_not_active, 200'],
        ).toContain(end)
        if (graceSeconds === 0 && revoked.status === 409)
          expect(refusalIn(revoked)!.details).toMatchObject({ rotatedTo: replacementOf(rotated).id })
        expect(await use(old)).toBe('401 key_revoked')
        const { rows } = await stack.fixture.run('SELECT id FROM control.keys WHERE rotated_from = $1', [old.id])
        expect(rows).toHaveLength(rotated.status === 201 ? 1 : 0)
        if (rotated.status === 201) expect(await use(replacementOf(rotated))).toBe('200')
      }
      expect(seen.size).toBe(2) // each order occurred
    })

  test('concurrent revocations revoke once [key_not_active]', async ({ owned }) => {
    const { caller, path } = owned
    const { id } = await newKey(owned)
    const answers = await atOnce(Array.from({ length: 8 }, () => () => caller.ask('POST', `${path}/${id}/revoke`)))
    expect(answers.map(said).toSorted()).toEqual(['200', ...Array(7).fill('409 key_not_active')])
  })
})
