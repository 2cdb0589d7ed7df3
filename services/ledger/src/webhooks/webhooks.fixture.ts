import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { postDeliveries } from '@gateway/ledger-client/post-deliveries'
import { expect } from 'vitest'
import { test as ledgerTest } from '../fixtures/ledger-test.ts'
import { unmeasured } from '../fixtures/replica.ts'
import { setThresholds } from '../notices/set-thresholds.ts'
import { recordDeliveries, takeDeliveries } from './deliveries.ts'
import { webhookSettingsOf } from './webhook-settings.ts'
import { openWebhookAttempts } from './webhook-attempts.ts'
import { createWebhook } from './webhooks.ts'

/** A request that the receiver got. */
export interface Got {
  path: string
  headers: Record<string, string>
  body: string
}

/** Posts what is due, as a worker does. */
export const sendNotices = (deps: Parameters<typeof takeDeliveries>[0], backOffMs?: number[]) =>
  postDeliveries({
    takeDeliveries: () => takeDeliveries(deps),
    recordDeliveries: (request) => recordDeliveries(deps, request, backOffMs),
  })

export const settings = (more: Partial<Parameters<typeof webhookSettingsOf>[0]> = {}) =>
  webhookSettingsOf({
    WEBHOOK_KEY: 'k'.repeat(32),
    WEBHOOK_KEY_PREVIOUS: undefined,
    WEBHOOK_PRIVATE_ADDRESSES: true,
    WEBHOOK_SECRET_GRACE_SECONDS: 86_400,
    PUBLIC_URL: 'https://models.example.test',
    ...more,
  })

/** A ledger's webhooks, a server that they lead to, and a project whose next charge is a notice. */
export const webhookTest = ledgerTest
  /** A server that responds with the status in the path, such as /500, and records the requests. */
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from this pattern what a fixture needs
  .extend('receiver', async ({}, { onCleanup }) => {
    const got: Got[] = []
    const server = createServer((req, res) => {
      void text(req).then((body) => {
        got.push({ path: req.url!, headers: req.headers as Record<string, string>, body })
        const status = Number(req.url!.slice(1))
        res.writeHead(status, status === 302 ? { location: '/200' } : {}).end()
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onCleanup(() => void server.close())
    return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  })
  .extend('hooked', async ({ fixture, replica, tenant, receiver }) => {
    const { project, key, product } = tenant
    const webhookAttempts = openWebhookAttempts()
    const deps = { reads: replica.reads, metrics: unmeasured, webhookSettings: settings(), webhookAttempts, quotas: {} }
    await setThresholds(replica, { project: project.id, belowMicro: [999_990], daysLeft: null, keyPercents: [] })
    return {
      deps,
      project: project.id,
      async webhook(path: string) {
        const id = fixture.id('whk')
        const url = path.startsWith('http') ? path : receiver.url + path
        const made = await createWebhook(deps, {
          id,
          project: project.id,
          kind: 'standard',
          url,
          createdBy: 'usr_test',
        })
        if (!('secret' in made)) throw new Error(JSON.stringify(made))
        return { id, secret: made.secret! }
      },
      /** Spends until the balance is below the threshold. Returns the id of the notice. */
      async cross() {
        const item = replica.item(key, product)
        await replica.admit(item)
        await replica.settle(item.id, { promptTokens: 1, completionTokens: 50 })
        const { rows } = await fixture.run('SELECT id FROM money.notices WHERE project = $1', [project.id])
        expect(rows).toHaveLength(1)
        return rows[0]!['id'] as string
      },
      /** Makes all pending deliveries due. The column is rounded to milliseconds, so now() could be in the future. */
      elapse: () =>
        fixture.run(
          `UPDATE money.webhook_deliveries SET next_try_at = now() - interval '1 ms' WHERE state = 'Pending'`,
        ),
      async deliveries() {
        const { rows } = await fixture.run(
          'SELECT state, tries, status, error FROM money.webhook_deliveries d JOIN money.notices n ON n.id = d.notice WHERE n.project = $1',
          [project.id],
        )
        return rows
      },
    }
  })
