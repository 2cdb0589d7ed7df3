import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { startSilentNameServer } from '@gateway/testbed/silent-name-server'
import { expect, onTestFinished } from 'vitest'
import { newPrompt, stackTest } from './stack.fixture.ts'

const test = stackTest
  /** Writes a due notice of the project, and creates a webhook at this address for it. */
  .extend('writeDue', async ({ stack, fixture, tenant: { project } }, { onCleanup }) => {
    const { url } = stack.ledgers[0]!
    const console = openLedgerClient({ url, service: 'console', privateKey: stack.secrets.console })
    onCleanup(() => console.close())
    return async (address: string) => {
      const [notice, webhook] = [`ntc_${newPrompt()}`, `whk_${newPrompt()}`]
      const destination = { id: webhook, project, createdBy: 'usr_test' }
      const made = await console.createWebhook({ ...destination, kind: 'standard', url: address })
      expect(made).toMatchObject({ kind: 'made' })
      await fixture.run(
        `WITH written AS (
           INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
           VALUES ($1, $2, 'wallet.below', 5, 4, now()))
         INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at) VALUES ($1, $3, now())`,
        [notice, project, webhook],
      )
      const state = async () =>
        (await fixture.run('SELECT state, status, error FROM money.webhook_deliveries WHERE notice = $1', [notice]))
          .rows
      return { notice, state }
    }
  })
  /** A notice of the project whose webhook leads to a server of this test. */
  .extend('due', async ({ writeDue }, { onCleanup }) => {
    const received = Promise.withResolvers<{ headers: IncomingHttpHeaders; body: string; res: ServerResponse }>()
    const server = createServer((req, res) => {
      void text(req).then((body) => received.resolve({ headers: req.headers, body, res }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onCleanup(() => void server.close())
    const due = await writeDue(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    return { ...due, received: received.promise }
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
  await expect.poll(due.state).toEqual([{ state: 'Delivered', status: 204, error: null }])
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
  expect(await due.state()).toEqual([{ state: 'Delivered', status: 204, error: null }])
})

test('a host whose name servers never answer is unknown in time, also where private addresses are allowed', async ({
  writeDue,
  startWorkerProcess,
}) => {
  const nameServer = await startSilentNameServer()
  onTestFinished(nameServer.close)
  const { state } = await writeDue('http://silent.example.com/')
  const asked = nameServer.asked(1)
  await startWorkerProcess(nameServer.environment)
  await asked
  await expect.poll(state, { timeout: 10_000 }).toEqual([{ state: 'Pending', status: null, error: 'unknown_host' }])
})
