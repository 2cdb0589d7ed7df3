import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { openPoster } from '@gateway/ledger-client/post-deliveries'
import type { DeliveriesQuestion, DeliveryCounts, DeliveryRecord } from '@gateway/ledger-protocol/ledger-reads'
import { expect } from 'vitest'
import { test as ledgerTest } from '../fixtures/ledger-test.ts'
import { unmeasured } from '../fixtures/replica.ts'
import { setThresholds } from '../notices/write-notices.ts'
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

/** Posts as a worker does, and counts the deliveries by outcome. */
export function openCountingPoster(deps: Parameters<typeof takeDeliveries>[0], backOffMs?: number[]) {
  const counts: DeliveryCounts = { delivered: 0, failed: 0, dead: 0 }
  const ledger = {
    takeDeliveries: (question: DeliveriesQuestion) => takeDeliveries(deps, question),
    async recordDeliveries(request: { deliveries: DeliveryRecord[] }) {
      const recorded = await recordDeliveries(deps, request, backOffMs)
      for (const outcome of ['delivered', 'failed', 'dead'] as const) counts[outcome] += recorded[outcome]
      return recorded
    },
  }
  return { ...openPoster(ledger, { warn: expect.fail }), counts }
}

/** What a worker with no posts under way asks. */
export const NONE_UNDER_WAY = { places: 32, underWay: [] }

/** Posts until nothing is due. Returns the number of deliveries by outcome. */
export async function sendNotices(deps: Parameters<typeof takeDeliveries>[0], backOffMs?: number[]) {
  const poster = openCountingPoster(deps, backOffMs)
  while ((await poster.postDue()) > 0) await poster.idle()
  return poster.counts
}

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
  /** A server that responds with the status in the path, such as /500, or never to /, and records the requests. */
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from this pattern what a fixture needs
  .extend('receiver', async ({}, { onCleanup }) => {
    const got: Got[] = []
    const server = createServer((req, res) => {
      void text(req).then((body) => {
        got.push({ path: req.url!, headers: req.headers as Record<string, string>, body })
        const status = Number(req.url!.slice(1))
        if (status === 0) return
        res.writeHead(status, status === 302 ? { location: '/200' } : {}).end()
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onCleanup(() => {
      server.closeAllConnections()
      server.close()
    })
    return {
      got,
      hangUp: () => server.closeAllConnections(),
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    }
  })
  .extend('hooked', async ({ fixture, replica, tenant, receiver }, { onCleanup }) => {
    onCleanup(async () => void (await fixture.run('DELETE FROM money.webhook_deliveries')))
    const { project, key, product } = tenant
    const webhookAttempts = openWebhookAttempts()
    const deps = { reads: replica.reads, metrics: unmeasured, webhookSettings: settings(), webhookAttempts, quotas: {} }
    await setThresholds(replica, { project: project.id, belowMicro: [999_990], daysLeft: null, keyPercents: [] })
    const hooksOf = (project: string) => ({
      async webhook(path: string) {
        const id = fixture.id('whk')
        const url = path.startsWith('http') ? path : receiver.url + path
        const made = await createWebhook(deps, { id, project, kind: 'standard', url, createdBy: 'usr_test' })
        if (!('secret' in made)) throw new Error(JSON.stringify(made))
        return { id, secret: made.secret! }
      },
      /** Writes notices that are due to every webhook of the project, for `hours`. */
      write: (count: number, hours = 0) =>
        fixture.run(
          `WITH written AS (
             INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
             SELECT 'ntc_' || n || $1, $1, 'wallet.below', 5, 4, now() FROM generate_series(1, $2) n RETURNING id)
           INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
           SELECT written.id, w.id, now() - $3 * interval '1 hour' FROM written, money.webhooks w WHERE w.project = $1`,
          [project, count, hours],
        ),
    })
    return {
      deps,
      project: project.id,
      ...hooksOf(project.id),
      ofOtherProject: hooksOf(`${project.id}_2`),
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
