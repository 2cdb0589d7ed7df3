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
    kind: 'standard',
    url,
    user: null,
    createdBy: stack.owner.id,
    createdAt: expect.any(String),
    failingSince: null,
    earlierSecretsUntil: null,
  })
  expect((await stack.owner.get(path)).body).toEqual({ data: [webhook], nextCursor: null })
  expect(outcomeOf(await stack.owner.delete(`${path}/${webhook.id}`))).toBe('204')
  expect(outcomeOf(await stack.owner.delete(`${path}/${webhook.id}`))).toBe('404 not_found')
  expect((await stack.owner.get(path)).body.data).toEqual([])
  const audit = JSON.stringify((await stack.owner.get(`${stack.path}/audit`)).body.data)
  for (const action of ['webhook.create', 'webhook.delete']) expect(audit).toContain(action)
  expect(audit).not.toContain(made.body.secret)
})

test.for(['its project', 'the organization'])(
  'a webhook whose deletion at the path of %s cannot be audited stays, and is deleted by the repeat [internal_error]',
  async (whose, { stack, fixture, onTestFinished }) => {
    const path = `${stack.projectPath}/webhooks`
    const { id } = (await stack.owner.post(path, { url })).body.webhook
    const at = `${whose === 'its project' ? path : `${stack.path}/webhooks`}/${id}`
    await fixture.run(
      `CREATE FUNCTION control.refuse_audit() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'no audit'; END $$;
       CREATE TRIGGER refuse_audit BEFORE INSERT ON control.audit FOR EACH ROW
         WHEN (NEW.subject = '${id}' AND NEW.action = 'webhook.delete') EXECUTE FUNCTION control.refuse_audit()`,
    )
    const undo = () =>
      fixture.run('DROP TRIGGER IF EXISTS refuse_audit ON control.audit; DROP FUNCTION IF EXISTS control.refuse_audit')
    onTestFinished(async () => void (await undo()))
    expect(outcomeOf(await stack.owner.delete(at))).toBe('500 internal_error')
    expect(outcomeOf(await stack.owner.get(`${path}/${id}`))).toBe('200')
    await undo()
    expect(outcomeOf(await stack.owner.delete(at))).toBe('204')
    expect(outcomeOf(await stack.owner.delete(at))).toBe('404 not_found')
    const { data } = (await stack.owner.get(`${stack.path}/audit?action=webhook.delete`)).body
    expect(data).toMatchObject([{ subject: id, details: { project: stack.project } }])
  },
)

test('a destination in Slack is listed without the path of its address, and has no secret to rotate [not_found]', async ({
  stack,
}) => {
  const path = `${stack.projectPath}/webhooks`
  const made = await stack.owner.post(path, { kind: 'slack', url: 'http://127.0.0.1:9/services/T0/B0/secret' })
  expect(made.body).toMatchObject({ webhook: { kind: 'slack', url: 'http://127.0.0.1:9' }, secret: null })
  const { webhook } = made.body
  expect((await stack.owner.get(path)).body.data).toEqual([webhook])
  expect((await stack.owner.get(`${path}/${webhook.id}`)).body).toEqual(webhook)
  expect(outcomeOf(await stack.owner.post(`${path}/${webhook.id}/rotate`))).toBe('404 not_found')
  expect(JSON.stringify((await stack.owner.get(`${stack.path}/audit`)).body)).not.toContain('B0')
})

test('without a mail server, alerts by mail are refused with who can set it up, and a new project has none [unavailable]', async ({
  stack,
}) => {
  const refused = await stack.owner.post(`${stack.projectPath}/webhooks`, { kind: 'email', user: null })
  expect(outcomeOf(refused)).toBe('503 unavailable')
  expect(refused.body.error.resolution).toContain('Ask its operator to set SMTP_URL')
  const project = (await stack.owner.post(`${stack.path}/projects`, { name: 'New', team: stack.team })).body
  expect((await stack.owner.get(`${stack.path}/projects/${project.id}/webhooks`)).body.data).toEqual([])
})

test.for([
  'ftp://hooks.example.com/',
  'https://me:secret@hooks.example.com/',
  'hooks',
  'https://hooks.example.com/#x',
  '',
])('rejects the webhook URL %j [invalid_request]', async (wrong, { stack }) => {
  for (const kind of [{}, { kind: 'slack' }]) {
    const answer = await stack.owner.post(`${stack.projectPath}/webhooks`, { ...kind, url: wrong })
    expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', 'url'])
  }
})

test('rejects an unknown kind of destination [invalid_request]', async ({ stack }) => {
  const answer = await stack.owner.post(`${stack.projectPath}/webhooks`, { kind: 'pager', url })
  expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', 'kind'])
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

test('rotating a webhook shows another secret once, says until when the old one signs, and is audited [not_found]', async ({
  stack,
}) => {
  const path = `${stack.projectPath}/webhooks`
  const { webhook, secret } = (await stack.owner.post(path, { url })).body
  const rotated = await stack.owner.post(`${path}/${webhook.id}/rotate`, { graceSeconds: 3_600 })
  expect(outcomeOf(rotated)).toBe('201')
  expect(rotated.body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(rotated.body.secret).not.toBe(secret)
  const { earlierSecretsUntil } = rotated.body.webhook
  expect(Math.round((Date.parse(earlierSecretsUntil) - Date.now()) / 60_000)).toBe(60)
  expect((await stack.owner.get(`${path}/${webhook.id}`)).body).toEqual({ ...webhook, earlierSecretsUntil })
  const ended = await stack.owner.post(`${path}/${webhook.id}/rotate`, { graceSeconds: 0 })
  expect(ended.body.webhook.earlierSecretsUntil).toBeNull()
  expect(outcomeOf(await stack.owner.post(`${path}/whk_none/rotate`))).toBe('404 not_found')
  const audit = (await stack.owner.get(`${stack.path}/audit?action=webhook.rotate`)).body.data
  expect(audit).toMatchObject([{ subject: webhook.id }, { subject: webhook.id, details: { graceSeconds: 3_600 } }])
  expect(JSON.stringify(audit)).not.toContain(ended.body.secret)
})

test('a webhook whose four earlier secrets still sign is rotated only if they end [rate_limited]', async ({
  stack,
}) => {
  const path = `${stack.projectPath}/webhooks`
  const { webhook } = (await stack.owner.post(path, { url })).body
  for (let n = 0; n < 4; n++) expect(outcomeOf(await stack.owner.post(`${path}/${webhook.id}/rotate`))).toBe('201')
  const refused = await stack.owner.post(`${path}/${webhook.id}/rotate`)
  expect(outcomeOf(refused)).toBe('429 rate_limited')
  expect(refused.body.error.resolution).toContain('graceSeconds 0')
  expect(outcomeOf(await stack.owner.post(`${path}/${webhook.id}/rotate`, { graceSeconds: 0 }))).toBe('201')
})

test('lists the deliveries of a webhook across pages and by state, and makes one due again [not_found]', async ({
  stack,
  fixture,
}) => {
  const path = `${stack.projectPath}/webhooks`
  const { webhook } = (await stack.owner.post(path, { url })).body
  await fixture.run(
    `WITH written AS (
       INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
       SELECT 'ntc_' || n || $1, $1, 'wallet.below', n, 4, '2026-11-20T09:00:00Z'::timestamptz + n / 2 * interval '1 second'
         FROM generate_series(1, 7) n RETURNING id, threshold)
     INSERT INTO money.webhook_deliveries (notice, webhook, state, tries, status, next_try_at, ended_at)
     SELECT id, w, CASE WHEN threshold = 4 THEN 'Dead' ELSE 'Delivered' END, 3, 500, now(), now()
       FROM written, unnest($2::text[]) w`,
    [stack.project, [webhook.id, 'whk_other']],
  )
  const deliveries = `${path}/${webhook.id}/deliveries`
  const read: { notice: string }[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await stack.owner.get(`${deliveries}?limit=3${cursor && `&cursor=${cursor}`}`)
    read.push(...body.data)
    cursor = body.nextCursor
  }
  expect(read.map(({ notice }) => notice[4])).toEqual(['7', '6', '5', '4', '3', '2', '1'])
  const dead = (await stack.owner.get(`${deliveries}?state=Dead`)).body.data
  expect(dead).toEqual([
    {
      notice: `ntc_4${stack.project}`,
      kind: 'wallet.below',
      at: '2026-11-20T09:00:02.000Z',
      state: 'Dead',
      tries: 3,
      status: 500,
      error: null,
      nextTryAt: null,
      endedAt: expect.any(String),
    },
  ])
  const resent = await stack.owner.post(`${deliveries}/ntc_4${stack.project}/resend`)
  expect(resent.body).toMatchObject({ state: 'Pending', nextTryAt: expect.any(String), endedAt: null })
  expect(outcomeOf(await stack.owner.post(`${deliveries}/ntc_none/resend`))).toBe('404 not_found')
  expect(outcomeOf(await stack.owner.get(`${path}/whk_other/deliveries`))).toBe('404 not_found')
})

test('a test notice is listed with the deliveries of its webhook and not with the alerts [rate_limited]', async ({
  stack,
}) => {
  const path = `${stack.projectPath}/webhooks`
  const { webhook } = (await stack.owner.post(path, { url })).body
  const sent = await stack.owner.post(`${path}/${webhook.id}/test`)
  expect(outcomeOf(sent)).toBe('201')
  // A worker may have tried it already: only what never changes is compared.
  const { notice, kind, at } = sent.body
  expect(kind).toBe('webhook.test')
  expect((await stack.owner.get(`${path}/${webhook.id}/deliveries`)).body.data).toMatchObject([{ notice, kind, at }])
  expect((await stack.owner.get(`${stack.projectPath}/notices`)).body.data).toEqual([])
  const others = await Promise.all(Array.from({ length: 19 }, () => stack.owner.post(`${path}/${webhook.id}/test`)))
  expect(others.map(outcomeOf).toSorted().at(-1)).toBe('429 rate_limited')
})
