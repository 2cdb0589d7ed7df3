import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished } from 'vitest'
import { writeNotices } from '../notices/write-notices.ts'
import { takeDeliveries } from './deliveries.ts'
import { NONE_UNDER_WAY, sendNotices, settings, webhookTest as test } from './webhooks.fixture.ts'
import { rotateWebhookSecret } from './webhooks.ts'

/** Failed deliveries are due again at once. */
const atOnce = Array.from({ length: 10_000 }, () => 0)

type Notices = Parameters<typeof writeNotices>[1]['notices']

const noticesOf = (project: string, from: number, count: number): Notices =>
  Array.from({ length: count }, (_, n) => ({
    id: `ntc_${project}_${from + n}`,
    project,
    kind: 'key.rotated',
    key: 'key_1',
    details: { by: 'usr_1', replacement: 'key_2' },
    at: '2026-11-26T09:00:00.000Z',
  }))

/** Whether the public library of Standard Webhooks accepts a delivery with a secret. */
function verifies(secret: string, body: string, headers: IncomingHttpHeaders): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

/** Takes the deliveries that are due, of which other tests may have left some. */
async function takeDeliveryOf(project: string, deps: Parameters<typeof takeDeliveries>[0]) {
  const { deliveries } = await takeDeliveries(deps, NONE_UNDER_WAY)
  return deliveries.find(({ body }) => body.includes(project))!
}

interface Sent {
  id: string
  body: string
  headers: IncomingHttpHeaders
}

/** A server that accepts what it can verify with `secret`, which a test may replace, and responds with 401 to the rest. */
async function startReceiver(accepted: (sent: Sent) => void = () => {}) {
  const receiver = { url: '', secret: '', accepted: [] as Sent[], refused: 0 }
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      const { headers } = req
      const fits = verifies(receiver.secret, body, headers)
      const sent = { id: String(headers['webhook-id']), body, headers }
      if (fits) {
        receiver.accepted.push(sent)
        accepted(sent)
      } else receiver.refused++
      res.writeHead(fits ? 204 : 401).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return receiver
}

test('loses no delivery while the secret is rotated under load, for receivers with the old secret and with the new one', async ({
  fixture,
  hooked,
}) => {
  const { deps, project } = hooked
  const [BATCHES, EACH] = [6, 100]
  const rotations: Promise<void>[] = []
  /** The receiver installs each new secret when the rotation has returned, while deliveries are on their way. */
  const prompt = await startReceiver(() => {
    const generation = { 100: 1, 250: 2, 400: 3 }[prompt.accepted.length]
    if (generation !== undefined) rotations.push(rotate(generation))
  })
  const late = await startReceiver()
  const webhooks = { prompt: await hooked.webhook(prompt.url), late: await hooked.webhook(late.url) }
  prompt.secret = webhooks.prompt.secret
  late.secret = webhooks.late.secret
  const secrets = [webhooks.prompt.secret]
  async function rotate(generation: number): Promise<void> {
    const both = Object.values(webhooks).map(({ id }) =>
      rotateWebhookSecret(deps, { id, project, generation, graceSeconds: null }),
    )
    const [made] = await Promise.all(both)
    if (made?.kind !== 'rotated') throw new Error(made?.why)
    prompt.secret = made.secret
    secrets.push(made.secret)
  }
  const open = async () =>
    Number(
      (await fixture.run(`SELECT count(*) FROM money.webhook_deliveries WHERE state = 'Pending'`)).rows[0]!['count'],
    )
  let isWriting = true
  const workers = Array.from({ length: 3 }, async () => {
    while (isWriting || (await open()) > 0) await sendNotices(deps, atOnce)
  })
  for (let n = 0; n < BATCHES; n++) await writeNotices(deps, { notices: noticesOf(project, n * EACH, EACH) })
  isWriting = false
  await Promise.all(workers)
  await Promise.all(rotations)

  const written = noticesOf(project, 0, BATCHES * EACH).map(({ id }) => id)
  expect(new Set(prompt.accepted.map(({ id }) => id))).toEqual(new Set(written))
  expect(new Set(late.accepted.map(({ id }) => id))).toEqual(new Set(written))
  expect(late.refused).toBe(0) // its secret signs for a day
  const states = (await hooked.deliveries()).map(({ state }) => state)
  expect(states).toEqual(Array(2 * written.length).fill('Delivered'))
  expect(secrets).toHaveLength(4)

  /** A delivery is due by the clock of the database, which can be a millisecond ahead of the one that asks. */
  async function deliver(n: number): Promise<Sent> {
    await writeNotices(deps, { notices: noticesOf(project, n, 1) })
    const find = () => prompt.accepted.find(({ id }) => id === `ntc_${project}_${n}`)
    while (find() === undefined) await sendNotices(deps)
    return find()!
  }

  // Within the day every secret verifies, and after it only the newest.
  const [first, , , newest] = secrets as [string, string, string, string]
  const during = await deliver(written.length)
  expect(secrets.map((secret) => verifies(secret, during.body, during.headers))).toEqual([true, true, true, true])
  await fixture.run(
    `UPDATE money.webhooks SET earlier_secrets = (
       SELECT jsonb_agg(e || jsonb_build_object('until', '2026-11-20T09:00:00.000Z')) FROM jsonb_array_elements(earlier_secrets) e)
      WHERE project = $1`,
    [project],
  )
  const after = await deliver(written.length + 1)
  expect([verifies(newest, after.body, after.headers), verifies(first, after.body, after.headers)]).toEqual([
    true,
    false,
  ])
  await expect.poll(() => late.refused).toBe(1)
})

test('rotating without grace ends all earlier secrets at once, and a repeat returns the same secret', async ({
  hooked,
}) => {
  const { deps, project } = hooked
  const { id, secret: first } = await hooked.webhook('/200')
  const rotate = (generation: number, graceSeconds: number | null) =>
    rotateWebhookSecret(deps, { id, project, generation, graceSeconds })
  const second = await rotate(1, null)
  const third = await rotate(2, 0)
  expect(await rotate(2, 0)).toEqual(third)
  expect(await rotate(1, 0)).toEqual({ kind: 'refused', why: 'moved' })
  expect(await rotateWebhookSecret(deps, { id, project: 'prj_other', generation: 3, graceSeconds: 0 })).toEqual({
    kind: 'refused',
    why: 'not_found',
  })
  if (second.kind !== 'rotated' || third.kind !== 'rotated') throw new Error('not rotated')
  await writeNotices(deps, { notices: noticesOf(project, 0, 1) })
  await hooked.elapse()
  const { body, headers } = await takeDeliveryOf(project, deps)
  const secrets = [first, second.secret, third.secret]
  expect(secrets.map((secret) => verifies(secret, body, headers))).toEqual([false, false, true])
})

test('no earlier secret signs for longer than the operator allows or the last rotation asks', async ({
  fixture,
  hooked,
}) => {
  const { deps, project } = hooked
  const { id } = await hooked.webhook('/200')
  const secondsLeft = async () => {
    const { rows } = await fixture.run(
      `SELECT round(extract(epoch FROM (e->>'until')::timestamptz - now()) / 60)::int AS minutes
         FROM money.webhooks w, jsonb_array_elements(w.earlier_secrets) e WHERE w.id = $1`,
      [id],
    )
    return rows.map((row) => row['minutes'])
  }
  const limited = { ...deps, webhookSettings: settings({ WEBHOOK_SECRET_GRACE_SECONDS: 7_200 }) }
  await rotateWebhookSecret(limited, { id, project, generation: 1, graceSeconds: 86_400 })
  expect(await secondsLeft()).toEqual([120])
  await rotateWebhookSecret(limited, { id, project, generation: 2, graceSeconds: 600 })
  expect(await secondsLeft()).toEqual([10, 10])
})

test('a fifth rotation is refused while four earlier secrets sign, unless it ends them', async ({ hooked }) => {
  const { deps, project } = hooked
  const { id } = await hooked.webhook('/200')
  const rotate = (generation: number, graceSeconds: number | null = null) =>
    rotateWebhookSecret(deps, { id, project, generation, graceSeconds })
  for (let generation = 1; generation <= 4; generation++)
    expect(await rotate(generation)).toMatchObject({ kind: 'rotated' })
  expect(await rotate(5)).toEqual({ kind: 'refused', why: 'too_many' })
  expect(await rotate(5, 0)).toMatchObject({ kind: 'rotated' })
})

test("rotating gives a webhook whose key is gone a secret by the operator's current key", async ({ hooked }) => {
  const { project } = hooked
  const { id } = await hooked.webhook('/200')
  const deps = { ...hooked.deps, webhookSettings: settings({ WEBHOOK_KEY: 'n'.repeat(32) }) }
  await writeNotices(deps, { notices: noticesOf(project, 0, 1) })
  expect(await takeDeliveries(deps, NONE_UNDER_WAY)).toEqual({ deliveries: [] })
  const made = await rotateWebhookSecret(deps, { id, project, generation: 1, graceSeconds: null })
  if (made.kind !== 'rotated') throw new Error(made.why)
  await hooked.elapse()
  const { body, headers } = await takeDeliveryOf(project, deps)
  expect(verifies(made.secret, body, headers)).toBe(true)
})
