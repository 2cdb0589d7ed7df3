import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { expect, onTestFinished } from 'vitest'
import { newPrompt, stackTest as test } from './stack.fixture.ts'

test('posts a due notice to its webhook, signed by the ledger, and has the delivery recorded', async ({
  stack,
  fixture,
  tenant,
  startWorker,
}) => {
  const { project } = tenant
  await startWorker()
  const received = Promise.withResolvers<{ headers: NodeJS.Dict<string | string[]>; body: string }>()
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      received.resolve({ headers: req.headers, body })
      res.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { url } = stack.ledgers[0]!
  const console = openLedgerClient({ url, service: 'console', secret: stack.secrets.console })
  onTestFinished(() => console.close())

  const [notice, webhook] = [`ntc_${newPrompt()}`, `whk_${newPrompt()}`]
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  expect(await console.createWebhook({ id: webhook, project, url: address, createdBy: 'usr_test' })).toMatchObject({
    kind: 'made',
  })
  await fixture.run(
    `WITH written AS (
       INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
       VALUES ($1, $2, 'wallet.below', 5, 4, now()))
     INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at) VALUES ($1, $3, now())`,
    [notice, project, webhook],
  )

  const { headers, body } = await received.promise
  expect(headers).toMatchObject({ 'webhook-id': notice, 'webhook-signature': expect.stringMatching(/^v1,/) as string })
  expect(JSON.parse(body)).toMatchObject({ type: 'wallet.below', data: { id: notice, project } })
  const state = async () =>
    (await fixture.run('SELECT state, status FROM money.webhook_deliveries WHERE notice = $1', [notice])).rows
  await expect.poll(state).toEqual([{ state: 'Delivered', status: 204 }])
})
