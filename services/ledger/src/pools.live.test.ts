import { Client } from 'pg'
import { expect } from 'vitest'
import { mint } from './fixtures/engine.ts'
import { openTenant, test as tenantTest } from './fixtures/ledger-test.ts'
import { openClients, openLedger } from './fixtures/open-ledger.ts'

// The whole ledger, with more concurrent requests than it can serve.

const LOAD = 20

const test = tenantTest
  .extend('ledger', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
    const ledger = await openLedger({ database, redis })
    onCleanup(ledger.stop)
    return ledger
  })
  .extend('clients', { scope: 'file' }, ({ ledger }, { onCleanup }) => {
    const clients = openClients(ledger)
    onCleanup(clients.close)
    return clients
  })
  /** A session that keeps its locks until `free`. */
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

test('a heartbeat waits neither for other requests nor for a locked wallet', async ({ clients, keep, fixture }) => {
  const { project } = await openTenant(fixture)
  await keep.lock(
    'LOCK TABLE money.assets IN ACCESS EXCLUSIVE MODE',
    `SELECT FROM money.wallets WHERE project = '${project.id}' FOR UPDATE`,
  )
  const waiting = [
    ...load((n) => clients.gateway.readAsset({ caller: { project: project.id }, asset: `ast_${n}` })),
    ...load((n) => clients.console.fund({ project: project.id, fundingId: `fund-${n}`, micro: 1, fundedBy: 'usr_1' })),
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

test('following executions leaves connections for other requests', async ({ clients, keep, fixture }) => {
  const { project } = await openTenant(fixture)
  await keep.lock('LOCK TABLE money.executions IN ACCESS EXCLUSIVE MODE')
  const waiting = load((n) => clients.gateway.followExecution({ execution: `exe_${n}`, after: 0 }))
  const asking = clients.console.wallet({ project: project.id }).then(() => 'the wallet')
  expect(await Promise.race([asking, ...waiting])).toBe('the wallet')
  await keep.free()
  await Promise.all(waiting)
})
