import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { expect, onTestFinished } from 'vitest'
import { newPrompt, stackTest } from './stack.fixture.ts'

/** `due` is a notice of the project whose webhook leads to a server of this test. */
const test = stackTest.extend('due', async ({ stack, fixture, tenant: { project } }, { onCleanup }) => {
  const received = Promise.withResolvers<{ headers: IncomingHttpHeaders; body: string; res: ServerResponse }>()
  const server = createServer((req, res) => {
    void text(req).then((body) => received.resolve({ headers: req.headers, body, res }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { url } = stack.ledgers[0]!
  const console = openLedgerClient({ url, service: 'console', privateKey: stack.secrets.console })
  onCleanup(async () => {
    server.close()
    await console.close()
  })
  const [notice, webhook] = [`ntc_${newPrompt()}`, `whk_${newPrompt()}`]
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const made = await console.createWebhook({
    id: webhook,
    project,
    kind: 'standard',
    url: address,
    createdBy: 'usr_test',
  })
  expect(made).toMatchObject({ kind: 'made' })
  await fixture.run(
    `WITH written AS (
       INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
       VALUES ($1, $2, 'wallet.below', 5, 4, now()))
     INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at) VALUES ($1, $3, now())`,
    [notice, project, webhook],
  )
  const state = async () =>
    (await fixture.run('SELECT state, status FROM money.webhook_deliveries WHERE notice = $1', [notice])).rows
  return { notice, received: received.promise, state }
})

test('a worker posts a due notice to its webhook, signed by the ledger, and has the delivery recorded', async ({
  due,
  tenant,
  startWorker,
}) => {
  await startWorker()
  const { headers, body, res } = await due.received
  res.writeHead(204).end()
  expect(headers).toMatchObject({
    'webhook-id': due.notice,
    'webhook-signature': expect.stringMatching(/^v1,/) as string,
  })
  expect(JSON.parse(body)).toMatchObject({ type: 'wallet.below', data: { id: due.notice, project: tenant.project } })
  await expect.poll(due.state).toEqual([{ state: 'Delivered', status: 204 }])
})

test('a worker that stops waits for the response of a post, and has the delivery recorded', async ({
  due,
  startWorkerProcess,
}) => {
  const worker = await startWorkerProcess()
  const { res } = await due.received
  worker.signal('SIGTERM')
  onTestFinished(() => void res.destroy())
  await expect.poll(() => worker.log().some(({ message }) => message === 'stopping')).toBe(true)
  res.writeHead(204).end()
  expect(await worker.ended).toBe(0)
  expect(await due.state()).toEqual([{ state: 'Delivered', status: 204 }])
})
