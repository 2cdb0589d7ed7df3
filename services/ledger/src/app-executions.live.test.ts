import { randomBytes } from 'node:crypto'
import { describe, expect, onTestFinished } from 'vitest'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { NodeJob } from '@gateway/node-queue/node-job'
import { openNodeWorker } from '@gateway/node-queue/node-worker'
import { openNotifier } from '@gateway/service-kit/notifier/notifier'
import { privateRedis } from '@gateway/testbed/private-servers'
import { mint, question } from './fixtures/engine.ts'
import { chain, publishProduct } from './fixtures/sandbox-products.ts'
import { openTenant, test as tenantTest } from './fixtures/ledger-test.ts'
import { openClients, openLedger } from './fixtures/open-ledger.ts'

// The whole ledger with the real queue and notifier: what workers and followers receive, and what maintenance does.

const test = tenantTest
  // A separate server, because a test stops it.
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('ownRedis', { scope: 'file' }, async ({}, { onCleanup }) => {
    const server = await privateRedis()
    onCleanup(() => server.stop())
    return server
  })
  .extend('ledger', { scope: 'file' }, async ({ database, ownRedis }, { onCleanup }) => {
    const ledger = await openLedger({ database, redis: ownRedis })
    onCleanup(ledger.stop)
    return ledger
  })
  .extend('clients', { scope: 'file' }, ({ ledger }, { onCleanup }) => {
    const clients = openClients(ledger)
    onCleanup(clients.close)
    return clients
  })
  /** The jobs that the queue delivers, in order. */
  .extend('queue', async ({ ownRedis }, { onCleanup }) => {
    const delivered: NodeJob[] = []
    let came = Promise.withResolvers<void>()
    const worker = openNodeWorker({
      redisUrl: ownRedis.url,
      concurrency: 10,
      sliceMs: 0,
      run: async (job) => {
        delivered.push(job)
        came.resolve()
        came = Promise.withResolvers<void>()
        return null
      },
      onLost() {},
      onFailed() {},
      onTrouble() {},
    })
    onCleanup(() => worker.stop(1_000))
    return {
      async next(execution: string): Promise<NodeJob> {
        for (;;) {
          const at = delivered.findIndex((job) => job.execution === execution)
          if (at >= 0) return delivered.splice(at, 1)[0]!
          await came.promise
        }
      },
    }
  })
  .extend('sandbox', async ({ fixture }) => {
    const tenant = await openTenant(fixture)
    return { tenant, id: await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: chain(1) }) }
  })

const BUDGET = { budgetMs: 10_000 }
const lease = () => randomBytes(16).toString('hex')
const newInstance = async (client: LedgerClient, deadAfterMs = 60_000) => {
  const instance = mint('ins')
  await client.heartbeat({ instance, service: 'worker', deadAfterMs })
  return instance
}
const text = { kind: 'succeeded' as const, output: '{"text":"x"}', ports: ['text'] }
const times = { usage: null, measured: { durationMs: 1, remoteMs: null } }

describe('the ledger with a real queue and notifier', () => {
  test('runs a flow from queued nodes and notifies followers when it is done', async ({
    clients,
    queue,
    sandbox,
    ownRedis,
  }) => {
    const notifier = openNotifier({ redisUrl: ownRedis.url })
    onTestFinished(() => notifier.close())
    const asked = question(sandbox.tenant.key, sandbox.id)
    const done = Promise.withResolvers<void>()
    let notified = 0
    notifier.subscribe(`done:${asked.id}`, () => {
      if (notified++ > 0) done.resolve() // the first notification only confirms the subscription
    })
    expect(await clients.gateway.startExecution(asked)).toMatchObject({ kind: 'started' })
    const instance = await newInstance(clients.worker)
    for (const node of ['t0', 'out']) {
      const job = await queue.next(asked.id)
      expect(job).toEqual({ execution: asked.id, node, attempt: 1 })
      const claim = { ...job, lease: lease(), instance }
      expect(await clients.worker.claim(claim, BUDGET)).toMatchObject({ kind: 'claimed', node: { id: node } })
      const item = { execution: job.execution, node, lease: claim.lease, result: text, ...times }
      expect(await clients.worker.complete(item)).toMatchObject({ kind: 'completed' })
    }
    await done.promise
    const caller = { keyHash: sandbox.tenant.key.hash, selector: null }
    expect(await clients.gateway.readExecution({ caller, project: null, execution: asked.id })).toMatchObject({
      done: true,
    })
    expect(await clients.gateway.followExecution({ execution: asked.id, after: 3, caller })).toMatchObject({
      lines: expect.stringContaining('"kind":"complete"') as string,
    })
    const unknown = { ...caller, keyHash: 'f'.repeat(64) }
    expect(await clients.gateway.followExecution({ execution: asked.id, after: 3, caller: unknown })).toMatchObject({
      refused: { code: 'key_invalid' },
    })
  })

  test('starts executions on behalf of a user only for the console', async ({ clients, sandbox: { tenant, id } }) => {
    const caller = { user: tenant.owners.owner, project: tenant.project.id }
    await expect(clients.gateway.startExecution(question(tenant.key, id, { caller }))).rejects.toThrow('403')
    await expect(clients.worker.startExecution(question(tenant.key, id))).rejects.toThrow('403')
    expect(await clients.console.startExecution(question(tenant.key, id, { caller }))).toMatchObject({
      kind: 'started',
    })
  })

  test('accepts an input of 2 MiB and checks it against the contract [input_type]', async ({
    clients,
    sandbox: { tenant, id },
  }) => {
    const input = { text: 'ü'.repeat(1024 * 1024 - 20) }
    expect(await clients.gateway.startExecution(question(tenant.key, id, { input }))).toMatchObject({
      refused: { code: 'input_type' },
    })
  })
})

describe('maintenance of executions', () => {
  test('reassigns the node of a silent worker to another worker', async ({
    clients,
    queue,
    sandbox: { tenant, id },
  }) => {
    const asked = question(tenant.key, id)
    await clients.gateway.startExecution(asked)
    const first = await queue.next(asked.id)
    const silent = await newInstance(clients.worker, 1_000)
    expect(await clients.worker.claim({ ...first, lease: lease(), instance: silent }, BUDGET)).toMatchObject({
      kind: 'claimed',
    })
    const second = await queue.next(asked.id)
    expect(second).toEqual({ ...first, attempt: 2 })
    const living = await newInstance(clients.worker)
    expect(await clients.worker.claim({ ...second, lease: lease(), instance: living }, BUDGET)).toMatchObject({
      kind: 'claimed',
      attempt: 2,
    })
  })

  test('starts executions while Redis is down and enqueues their nodes once it is back', async ({
    clients,
    queue,
    sandbox: { tenant, id },
    ownRedis,
  }) => {
    await ownRedis.stopImmediately()
    const asked = question(tenant.key, id)
    expect(await clients.gateway.startExecution(asked)).toMatchObject({ kind: 'started' })
    await ownRedis.restart()
    expect(await queue.next(asked.id)).toMatchObject({ node: 't0' })
  })
})
