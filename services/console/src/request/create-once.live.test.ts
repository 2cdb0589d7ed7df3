import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { processOf } from '@gateway/testbed/test-program'
import {
  answerOf,
  consoleTest,
  credentialOf,
  outcomeOf,
  untilBlocked,
  type Answer,
  type Caller,
} from '../console.fixture.ts'
import { echo } from '../sandboxes/graphs.fixture.ts'

const test = consoleTest
  .extend('counts', { scope: 'file' }, () => ({ gateways: 0, workers: 0, processes: ['console-0'] as const }))
  .extend('post', ({ console }) => {
    return async (caller: Caller, path: string, key: string, body: unknown): Promise<Answer> =>
      answerOf(
        await fetch(console.url + path, {
          method: 'POST',
          headers: { ...credentialOf(caller.token), 'idempotency-key': key },
          body: JSON.stringify(body),
        }),
      )
  })

const product = {
  id: 'acme/once',
  name: 'Once',
  ownedBy: 'Acme',
  kind: 'image',
  contextLength: 8_192,
  maxOutputTokens: 1_024,
  pricing: { unit: 'request', request: '0.04' },
  providers: [{ provider: 'simulated', model: 'sim-once', priority: 0 }],
}

test('concurrent requests with one idempotency key create one project and get the same response', async ({
  stack,
  post,
  fixture,
}) => {
  const key = randomUUID()
  const body = { name: 'Once', team: stack.team }
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => post(stack.owner, `${stack.path}/projects`, key, body)),
  )
  expect(answers.map(outcomeOf)).toEqual(Array(5).fill('201'))
  expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
  expect(answers.filter(({ headers }) => headers.get('Idempotent-Replayed') === 'true')).toHaveLength(4)
  const made = await fixture.run(`SELECT FROM control.projects WHERE tenant = $1 AND name = 'Once'`, [stack.tenant])
  expect(made.rowCount).toBe(1)
})

test('a repeated request of any kind creates nothing and does not show the secret again', async ({
  stack,
  post,
  signIn,
}) => {
  const { owner, path, projectPath } = stack
  const session = await signIn({ id: owner.id, by: 'session' })
  const operator = await signIn({ platformOperator: true })
  const { id: sandbox } = (await owner.post(`${projectPath}/sandboxes`, { name: 'Flow' })).body
  const things: [path: string, body: object, secret: boolean][] = [
    [`${path}/teams`, { name: 'New' }, false],
    ['/api/v2/products', product, false],
    [`${projectPath}/sandboxes`, { name: 'New' }, false],
    [`${path}/sandboxes/${sandbox}/revisions`, { graph: echo, baseRevision: 0 }, false],
    [`${path}/keys`, { project: stack.project }, true],
    ['/api/v2/me/tokens', { name: 'New' }, true],
    [`${path}/tokens`, { name: 'New', permissions: ['audit.read'] }, true],
    [`${projectPath}/tokens`, { name: 'New', permissions: ['usage.read'] }, true],
  ]
  for (const [at, body, hasSecret] of things) {
    const key = randomUUID()
    const by = at === '/api/v2/products' ? operator : at.startsWith('/api/v2/me/') ? session : owner
    const first = await post(by, at, key, body)
    expect([at, outcomeOf(first)]).toEqual([at, '201'])
    const again = await post(by, at, key, Object.fromEntries(Object.entries(body).toReversed()))
    expect([at, outcomeOf(again), again.headers.get('Idempotent-Replayed')]).toEqual([at, '201', 'true'])
    if (!hasSecret) expect(again.body).toEqual(first.body)
    else {
      const { secret, ...made } = first.body
      expect(again.body).toEqual({
        ...made,
        secret: null,
        resolution: expect.stringMatching(/^Its secret was shown once/),
      })
      expect(JSON.stringify(again.body)).not.toContain(secret)
    }
  }
})

test('rejects a different request under a used idempotency key, at any path [idempotency_mismatch]', async ({
  stack,
  post,
  signIn,
}) => {
  const key = randomUUID()
  const session = await signIn({ id: stack.owner.id, by: 'session' })
  await post(stack.owner, `${stack.path}/teams`, key, { name: 'One' })
  for (const [path, body] of [
    [`${stack.path}/teams`, { name: 'Two' }],
    [`${stack.projectPath}/sandboxes`, { name: 'One' }],
    ['/api/v2/me/tokens', { name: 'One' }],
  ] as const)
    expect(outcomeOf(await post(session, path, key, body))).toBe('422 idempotency_mismatch')
})

test('idempotency keys are separate per user, and a replay needs the permission again [not_permitted]', async ({
  stack,
  post,
  fixture,
}) => {
  const key = randomUUID()
  const other = await stack.member({ tenant: 'Admin' })
  const one = await post(stack.owner, `${stack.path}/teams`, key, { name: 'One' })
  const two = await post(other, `${stack.path}/teams`, key, { name: 'One' })
  expect([outcomeOf(two), two.body.id === one.body.id]).toEqual(['201', false])
  await fixture.run(`UPDATE control.memberships SET role = 'Member' WHERE user_id = $1`, [other.id])
  expect(outcomeOf(await post(other, `${stack.path}/teams`, key, { name: 'One' }))).toBe('403 not_permitted')
})

test('a refused request can succeed with the same idempotency key once its cause is gone [resource_not_eligible]', async ({
  stack,
  post,
  fixture,
}) => {
  const [key, product] = [randomUUID(), await fixture.product()]
  const ask = () =>
    post(stack.owner, `${stack.path}/keys`, key, { project: stack.project, policy: 'listed', resources: [product] })
  expect(outcomeOf(await ask())).toBe('422 resource_not_eligible')
  await fixture.assign(stack.project, product)
  const made = await ask()
  expect([outcomeOf(made), typeof made.body.secret]).toEqual(['201', 'string'])
})

test('if the console is killed before it commits, a repeated request creates the team once', async ({
  stack,
  post,
  fixture,
  console,
}) => {
  const key = randomUUID()
  await fixture.run('BEGIN')
  await fixture.run('LOCK TABLE control.teams IN EXCLUSIVE MODE')
  const lost = post(stack.owner, `${stack.path}/teams`, key, { name: 'Lost' }).catch(() => 'lost')
  await untilBlocked(fixture)
  await processOf(console).kill()
  expect(await lost).toBe('lost')
  await fixture.run('ROLLBACK')
  await console.start()
  expect(outcomeOf(await post(stack.owner, `${stack.path}/teams`, key, { name: 'Lost' }))).toBe('201')
  const again = await post(stack.owner, `${stack.path}/teams`, key, { name: 'Lost' })
  expect(again.headers.get('Idempotent-Replayed')).toBe('true')
  const made = await fixture.run(`SELECT FROM control.teams WHERE tenant = $1 AND name = 'Lost'`, [stack.tenant])
  expect(made.rowCount).toBe(1)
})

test('rejects a malformed idempotency key and a repeated header [idempotency_key_invalid, duplicate_header]', async ({
  stack,
  post,
  console,
}) => {
  for (const key of ['short', 'x'.repeat(129), 'with a space'])
    expect(outcomeOf(await post(stack.owner, `${stack.path}/teams`, key, { name: 'x' }))).toBe(
      '400 idempotency_key_invalid',
    )
  const { request } = await import('node:http')
  const status = await new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${stack.owner.token}`,
      'idempotency-key': ['key-number-1', 'key-number-2'],
    }
    request(`${console.url}${stack.path}/teams`, { method: 'POST', headers }, (res) => {
      res.resume()
      resolve(res.statusCode)
    }).end('{"name":"x"}')
  })
  expect(status).toBe(400)
})

test('keeps the record of an idempotent creation for two days', async ({ stack, post, fixture, database }) => {
  const { openDatabase } = await import('@gateway/database/client')
  const { forgetCreations } = await import('./create-once.ts')
  const key = randomUUID()
  await post(stack.owner, `${stack.path}/teams`, key, { name: 'Kept' })
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1 })
  try {
    expect(await forgetCreations({ prisma })).toBe(0)
    await fixture.run(
      `UPDATE control.idempotent_creations SET created_at = now() - interval '49 hours' WHERE key = $1`,
      [key],
    )
    expect(await forgetCreations({ prisma })).toBe(1)
  } finally {
    await close()
  }
})
