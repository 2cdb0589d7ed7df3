import path from 'node:path'
import { Client } from 'pg'
import { expect } from 'vitest'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { startProgram } from '@gateway/testbed/test-program'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { mint } from './fixtures/engine.ts'
import { openTenant, test as tenantTest } from './fixtures/ledger-test.ts'

// The ledger as a process, of which somebody asks more than it can answer at once.

const secrets = { gateway: 'g'.repeat(32), worker: 'w'.repeat(32), console: 'c'.repeat(32) }
const LOAD = 20

const test = tenantTest
  .extend('ledger', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
    const ledger = await startProgram({
      name: 'ledger',
      entry: path.join(import.meta.dirname, 'main.ts'),
      folder: await temporaryFolder('ledger'),
      env: {
        DATABASE_URL: database.ledgerUrl,
        REDIS_URL: redis.url,
        SERVICE_SECRET_GATEWAY: secrets.gateway,
        SERVICE_SECRET_WORKER: secrets.worker,
        SERVICE_SECRET_CONSOLE: secrets.console,
      },
    })
    onCleanup(ledger.stop)
    return ledger
  })
  .extend('clients', async ({ ledger }, { onCleanup }) => {
    const open = (service: keyof typeof secrets) =>
      openLedgerClient({ url: ledger.url, service, secret: secrets[service] })
    const clients = { gateway: open('gateway'), worker: open('worker'), console: open('console') }
    onCleanup(async () => void (await Promise.all(Object.values(clients).map((client) => client.close()))))
    return clients
  })
  /** A session that keeps what it has locked until it is told to free it. */
  .extend('keep', async ({ database }, { onCleanup }) => {
    const session = new Client({ connectionString: database.adminUrl })
    await session.connect()
    onCleanup(() => session.end())
    return {
      lock: async (...statements: string[]) => {
        for (const sql of ['BEGIN', ...statements]) await session.query(sql)
      },
      free: () => session.query('ROLLBACK'),
    }
  })

const load = (ask: (n: number) => Promise<unknown>) =>
  Array.from({ length: LOAD }, (_, n) =>
    ask(n).then(
      () => 'of the load',
      () => 'of the load',
    ),
  )

test('a heartbeat waits for no other questions, and for no wallet that is locked', async ({
  clients,
  keep,
  fixture,
}) => {
  const { project } = await openTenant(fixture)
  await keep.lock(
    'LOCK TABLE money.assets IN ACCESS EXCLUSIVE MODE',
    `SELECT FROM money.wallets WHERE project = '${project.id}' FOR UPDATE`,
  )
  const waiting = [
    ...load((n) => clients.gateway.readAsset({ caller: { project: project.id }, asset: `ast_${n}` })),
    ...load((n) => clients.console.fund({ project: project.id, fundingId: `fund-${n}`, micro: 1, fundedBy: 'per_1' })),
    ...load(() => clients.console.barrier({ projects: [project.id] })),
  ]
  const instance = mint('ins')
  const heartbeats = (async () => {
    for (let n = 0; n < 10; n++) await clients.worker.heartbeat({ instance, service: 'worker', deadAfterMs: 3_000 })
    return 'the heartbeats'
  })()
  expect(await Promise.race([heartbeats, ...waiting])).toBe('the heartbeats')
  await keep.free()
  await Promise.all(waiting)
})

test('those who follow executions leave connections to other questions', async ({ clients, keep, fixture }) => {
  const { project } = await openTenant(fixture)
  await keep.lock('LOCK TABLE money.executions IN ACCESS EXCLUSIVE MODE')
  const waiting = load((n) => clients.gateway.followExecution({ execution: `exe_${n}`, after: 0 }))
  const asking = clients.console.wallet({ project: project.id }).then(() => 'the wallet')
  expect(await Promise.race([asking, ...waiting])).toBe('the wallet')
  await keep.free()
  await Promise.all(waiting)
})
