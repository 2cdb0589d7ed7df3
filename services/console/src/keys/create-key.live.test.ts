import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

// spec: 1/s2, 1/s3, 1/s12, 2.1/r1, 2.1/r2, 2.1/r3, 2.1/r5, 5/s1, 5/s2
test('creates a key bound to its project, shows the secret once and stores only its hash', async ({
  stack,
  fixture,
}) => {
  const limit = { micro: 5_000_000, reset: 'daily' }
  const made = await stack.owner.post(`${stack.path}/keys`, {
    project: stack.project,
    name: ' CI ',
    limit,
    rates: { requestsPerMinute: 60 },
    expiresInDays: 30,
  })
  expect(outcomeOf(made)).toBe('201')
  const { key, secret } = made.body
  expect(secret).toMatch(/^svc_[0-9A-Za-z]{49}$/)
  expect(key).toEqual({
    id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
    name: 'CI',
    project: stack.project,
    prefix: secret.slice(0, 12),
    state: 'Active',
    policy: 'all-eligible',
    resources: [],
    limit,
    window: {
      spentMicro: 0,
      reservedMicro: 0,
      remainingMicro: limit.micro,
      startsAt: expect.any(String),
      resetsAt: expect.any(String),
    },
    tag: null,
    rates: { requestsPerMinute: 60, tokensPerMinute: null, concurrentCalls: null },
    createdBy: stack.owner.id,
    createdAt: expect.any(String),
    expiresAt: new Date(Date.parse(key.createdAt) + 30 * 86_400_000).toISOString(),
    lastUsedAt: null,
    rotatedFrom: null,
    rotatedTo: null,
    issuedBy: stack.owner.id,
    rotatedBy: null,
    rotatedAt: null,
    graceUntil: null,
    pausedAt: null,
  })
  const read = await stack.owner.get(`${stack.path}/keys/${key.id}`)
  expect(read.body).toEqual(key)
  const { rows } = await fixture.run('SELECT *, encode(hash, $2) AS hex FROM control.keys WHERE id = $1', [
    key.id,
    'hex',
  ])
  expect(rows[0]).toMatchObject({ lineage: key.id, hex: createHash('sha256').update(secret).digest('hex') })
  expect(JSON.stringify(rows)).not.toContain(secret)
  const { body: audit } = await stack.owner.get(`${stack.path}/audit`)
  expect(JSON.stringify(audit)).not.toContain(secret)
})

// spec: 2.1/r7, 8.3/s1
test('a key expires after 90 days by default', async ({ stack }) => {
  const { body } = await stack.owner.post(`${stack.path}/keys`, { project: stack.project })
  expect(Date.parse(body.key.expiresAt) - Date.parse(body.key.createdAt)).toBe(90 * 86_400_000)
})

// spec: 2.1/r4, 2.1/r6, 2.1/r7, 7/r1, 8.3/s1, 8.3/s2
test.for([
  [{}, '422 project_required', 'project'],
  [{ project: null, colour: 'red' }, '422 project_required', 'project'],
  [{ expiresInDays: 0 }, '400 invalid_request', 'expiresInDays'],
  [{ expiresInDays: 366 }, '400 invalid_request', 'expiresInDays'],
  [{ expiresInDays: 1.5 }, '400 invalid_request', 'expiresInDays'],
  [{ limit: { micro: 0, reset: 'daily' } }, '400 invalid_request', 'limit.micro'],
  [{ limit: { micro: 2 ** 53, reset: 'daily' } }, '400 invalid_request', 'limit.micro'],
  [{ limit: { micro: 1, reset: 'hourly' } }, '400 invalid_request', 'limit.reset'],
  [{ limit: { micro: 1 } }, '400 invalid_request', 'limit.reset'],
  [{ policy: 'listed' }, '400 invalid_request', 'resources'],
  [{ policy: 'listed', resources: [] }, '400 invalid_request', 'resources'],
  [{ resources: ['acme/swift'] }, '400 invalid_request', 'resources'],
  [{ policy: 'all-eligible', resources: ['acme/swift'] }, '400 invalid_request', 'resources'],
  [{ createdBy: 'usr_other' }, '400 invalid_request', 'createdBy'],
  [{ hash: 'x' }, '400 invalid_request', 'hash'],
  [{ rotatedFrom: 'key_other' }, '400 invalid_request', 'rotatedFrom'],
  [JSON.parse('{"__proto__":{"policy":"listed"}}'), '400 invalid_request', '__proto__'],
  [{ limit: { micro: 1, reset: 'daily', spentMicro: 0 } }, '400 invalid_request', 'limit.spentMicro'],
  [{ limit: { micro: 1.5, reset: 'daily' } }, '400 invalid_request', 'limit.micro'],
  [{ name: '' }, '400 invalid_request', 'name'],
  [{ name: null }, '400 invalid_request', 'name'],
] as const)('rejects a key with %j, and stores none: %s', async ([more, refusal, param], { stack, fixture }) => {
  const body = refusal.endsWith('project_required') ? more : { project: stack.project, ...more }
  const answer = await stack.owner.post(`${stack.path}/keys`, body)
  expect([outcomeOf(answer), answer.body.error.param]).toEqual([refusal, param])
  const { rowCount } = await fixture.run('SELECT FROM control.keys WHERE tenant = $1', [stack.tenant])
  expect(rowCount).toBe(0)
})

// spec: 2.1/r6, 2.1/r7, 8.3/s1, 8.3/s2
test.for([
  [{ expiresInDays: 1 }],
  [{ expiresInDays: 365 }],
  [{ limit: { micro: 1, reset: 'lifetime' } }],
  [{ limit: { micro: Number.MAX_SAFE_INTEGER, reset: 'weekly' } }],
  [{ limit: null, policy: 'all-eligible' }],
] as const)('creates a key at the limit: %j', async ([more], { stack }) => {
  expect(outcomeOf(await stack.owner.post(`${stack.path}/keys`, { project: stack.project, ...more }))).toBe('201')
})

// spec: 2.1/r5, 7/r5
test('rejects an allowlist with products that are not assigned or not published [resource_not_eligible]', async ({
  stack,
  fixture,
}) => {
  const [assigned, suspended, unassigned] = [
    await fixture.product(),
    await fixture.product({ state: 'suspended' }),
    await fixture.product(),
  ]
  await fixture.assign(stack.project, assigned, suspended)
  const create = (resources: string[]) =>
    stack.owner.post(`${stack.path}/keys`, { project: stack.project, policy: 'listed', resources })
  const refused = await create([assigned, unassigned, suspended, 'sbx-none'])
  expect(outcomeOf(refused)).toBe('422 resource_not_eligible')
  expect(refused.body.error.details).toEqual({ resources: [unassigned, suspended, 'sbx-none'] })
  const made = await create([assigned, assigned])
  expect(made.body.key).toMatchObject({ policy: 'listed', resources: [assigned] })
})

// spec: 5/s5, 5/s6
test('a Team Member with a Project Consumer grant can issue a key', async ({ stack }) => {
  const issuer = await stack.member({ team: 'Team Member', project: 'Project Consumer' })
  expect(outcomeOf(await issuer.post(`${stack.path}/keys`, { project: stack.project }))).toBe('201')
})
