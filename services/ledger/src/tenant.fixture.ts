import { liveTest } from '@gateway/testbed/live-test'
import { openFixture, type Fixture } from '@gateway/testbed/fixture'
import { checkBooks, sayFinding } from './check/check-books.ts'
import { openReplica, type Replica } from './replica.fixture.ts'

// What tests of the money core stand on: two replicas on one database, and a project that may call.

export const test = liveTest
  .extend('fixture', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const fixture = await openFixture(database.adminUrl)
    onCleanup(fixture.close)
    return fixture
  })
  .extend('replica', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const replica = await openReplica(database.ledgerUrl)
    onCleanup(replica.close)
    return replica
  })
  .extend('other', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const replica = await openReplica(database.ledgerUrl)
    onCleanup(replica.close)
    return replica
  })
  .extend('tenant', async ({ fixture }) => openTenant(fixture))

/** A project with a key and a product of one micro-USD per output token. */
export async function openTenant(fixture: Fixture, funds = 1_000_000n) {
  const owners = await fixture.tenant()
  const project = await fixture.project(owners, funds)
  const product = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n })
  await fixture.assign(project.id, product)
  const key = await fixture.key({ project, by: owners.owner })
  return { owners, project, product, key }
}

export async function walletOf(replica: Replica, project: string) {
  const { funded, reserved, settled } = (await replica.reads.prisma.wallet.findUnique({ where: { project } }))!
  return { funded, reserved, settled }
}

/** What the check of the whole books of a project finds, as sentences. */
export async function findingsOf(replica: Replica, project: string): Promise<string[]> {
  return (await checkBooks(replica.reads, { projects: [project], whole: true })).findings.map(sayFinding)
}

/** Resolves once a session of this database waits for another one's lock, or `work` has ended without. */
export async function untilSomebodyWaits(fixture: Fixture, work: Promise<unknown>): Promise<void> {
  let ended = false
  void work.catch(() => {}).finally(() => (ended = true))
  while (!ended) {
    const waiting = await fixture.run(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    if (waiting.rowCount) return
  }
}
