import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

const url = 'http://127.0.0.1:9/hooks'

test('creates a webhook with a secret shown once, lists it, deletes it, and audits both changes [not_found]', async ({
  stack,
}) => {
  const path = `${stack.projectPath}/webhooks`
  const made = await stack.owner.post(path, { url })
  expect(outcomeOf(made)).toBe('201')
  expect(made.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const { webhook } = made.body
  expect(webhook).toEqual({
    id: expect.stringMatching(/^whk_/),
    url,
    createdBy: stack.owner.id,
    createdAt: expect.any(String),
  })
  expect((await stack.owner.get(path)).body).toEqual({ data: [webhook], nextCursor: null })
  expect(outcomeOf(await stack.owner.delete(`${path}/${webhook.id}`))).toBe('204')
  expect(outcomeOf(await stack.owner.delete(`${path}/${webhook.id}`))).toBe('404 not_found')
  expect((await stack.owner.get(path)).body.data).toEqual([])
  const audit = JSON.stringify((await stack.owner.get(`${stack.path}/audit`)).body.data)
  for (const action of ['webhook.create', 'webhook.delete']) expect(audit).toContain(action)
  expect(audit).not.toContain(made.body.secret)
})

test('only Project Owners can list, create or delete webhooks [not_permitted]', async ({ stack }) => {
  const consumer = await stack.member({ project: 'Project Consumer' })
  const path = `${stack.projectPath}/webhooks`
  const answers = [await consumer.get(path), await consumer.post(path, { url }), await consumer.delete(`${path}/whk_1`)]
  expect(answers.map(outcomeOf)).toEqual(['403 not_permitted', '403 not_permitted', '403 not_permitted'])
})

test('a project can have at most five webhooks [not_empty]', async ({ stack }) => {
  const path = `${stack.projectPath}/webhooks`
  for (let n = 0; n < 5; n++) expect(outcomeOf(await stack.owner.post(path, { url }))).toBe('201')
  expect(outcomeOf(await stack.owner.post(path, { url }))).toBe('409 not_empty')
})

test.for([
  'ftp://hooks.example.com/',
  'https://me:secret@hooks.example.com/',
  'hooks',
  'https://hooks.example.com/#x',
  '',
])('rejects the webhook URL %j [invalid_request]', async (wrong, { stack }) => {
  expect(outcomeOf(await stack.owner.post(`${stack.projectPath}/webhooks`, { url: wrong }))).toBe('400 invalid_request')
})

test('a notice lists its deliveries to webhooks that still exist', async ({ stack, fixture }) => {
  const { webhook } = (await stack.owner.post(`${stack.projectPath}/webhooks`, { url })).body
  await fixture.run(
    `WITH told AS (
       INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
       VALUES ('ntc_' || $1, $1, 'wallet.below', 5, 4, now()) RETURNING id)
     INSERT INTO money.webhook_deliveries (notice, webhook, state, tries, status, error, next_try_at, ended_at)
     SELECT id, unnest($2::text[]), 'Dead', 10, 500, NULL, now(), '2026-11-20T09:00:00Z' FROM told`,
    [stack.project, [webhook.id, 'whk_deleted']],
  )
  const { body } = await stack.owner.get(`${stack.projectPath}/notices`)
  expect(body.data[0].deliveries).toEqual([
    {
      webhook: webhook.id,
      state: 'Dead',
      tries: 10,
      status: 500,
      error: null,
      nextTryAt: null,
      endedAt: '2026-11-20T09:00:00.000Z',
    },
  ])
})
