import fc from 'fast-check'
import { afterAll, describe, expect } from 'vitest'
import { openDatabase, type Database } from '@gateway/database/client'
import { liveTest } from '@gateway/testbed/live-test'
import { openFixture, type Fixture } from '@gateway/testbed/fixture'
import { checkBooks, sayFinding } from '../src/check/check-books.ts'
import { availableIn } from './book.ts'
import { playBatch, playCorrection, playNodeClosings } from './play-history.fixture.ts'
import { command, type Command } from './random-history.fixture.ts'
import { buildHistorySetup, type HistorySetup } from './history-setup.fixture.ts'

// The SQL decision and the pure one, on the same random histories: every outcome of every item, and every balance
// after. The histories go to two replicas in turn. fast-check prints the seed and the path of a history that fails.

const OPERATIONS = 100_000
/** Every outcome there is; each must have been seen. */
const OUTCOMES = [
  'admitted',
  'again',
  'closed',
  'context_limit',
  'copy',
  'copy key_limit',
  'copy insufficient_budget',
  'instance_unknown',
  'idempotency_mismatch',
  'images_unsupported',
  'insufficient_budget',
  'key_expired',
  'key_invalid',
  'key_issuer_denied',
  'key_limit',
  'key_revoked',
  'key_scope',
  'key_unbound',
  'model_not_found',
  'project_mismatch',
  'replay',
  'running',
  'unsupported_parameter',
  'closing settled',
  'closing released',
  'closing fenced',
  'closing unknown',
  'closing alive',
  'closing unknown of a node',
  'node admitted',
  'node again',
  'node closed',
  'node context_limit',
  'node fenced',
  'node instance_unknown',
  'node images_unsupported',
  'node insufficient_budget',
  'node key_issuer_denied',
  'node key_limit',
  'node key_revoked',
  'node key_scope',
  'node not_permitted',
  'node product_not_assigned',
  'node unsupported_parameter',
  'node closing settled',
  'node closing released',
  'node closing fenced',
  'node closing unknown',
  'correction corrected',
  'correction short',
]
const COMMANDS = 25

describe('the decision in SQL and the pure one', () => {
  let replicas: Database[]
  let fixture: Fixture
  const test = liveTest

  afterAll(async () => {
    await fixture?.close()
    for (const replica of replicas ?? []) await replica.close()
  })

  test(
    `agree on every item of ${OPERATIONS} random ones, and on every balance`,
    { timeout: 600_000 },
    async ({ database }) => {
      fixture = await openFixture(database.adminUrl)
      replicas = [
        await openDatabase({ url: database.ledgerUrl, poolSize: 1 }),
        await openDatabase({ url: database.ledgerUrl, poolSize: 1 }),
      ]
      let operations = 0
      const seen = new Map<string, number>()
      // A history that never reaches an outcome proves nothing about it: where chance left one out, it goes on.
      const missing = () => OUTCOMES.filter((outcome) => !seen.has(outcome))
      const enough = () => operations >= OPERATIONS && (missing().length === 0 || operations >= 4 * OPERATIONS)
      for (let seed = Date.now(); !enough(); seed++) {
        await fc.assert(
          fc.asyncProperty(fc.array(command, { minLength: COMMANDS >> 1, maxLength: COMMANDS }), async (commands) => {
            operations += await playHistory(commands, replicas, fixture, seen)
          }),
          { numRuns: 4, seed, endOnFailure: false },
        )
      }
      expect(operations).toBeGreaterThanOrEqual(OPERATIONS)
      expect(missing()).toEqual([])
    },
  )
})

async function playHistory(
  commands: Command[],
  replicas: Database[],
  fixture: Fixture,
  seen: Map<string, number>,
): Promise<number> {
  const setup = await buildHistorySetup(fixture)
  const ids: string[] = []
  let operations = 0
  for (const [turn, command] of commands.entries()) {
    const replica = replicas[turn % replicas.length]!
    switch (command.kind) {
      case 'batch':
        operations += await playBatch(setup, command.admissions, command.closings, ids, replica, seen)
        break
      case 'close nodes':
        operations += await playNodeClosings(setup, command.closings, ids, replica, seen)
        break
      case 'rotate':
        await setup.rotate(command.key)
        operations++
        break
      case 'fail execution':
        await setup.executions.fail(command.which)
        operations++
        break
      case 'withdraw person':
        await setup.executions.withdrawPerson()
        operations++
        break
      case 'fund': {
        const project = setup.projects[command.project % setup.projects.length]!
        const funding = `f-${turn}`
        await fixture.fund(project, BigInt(command.micro), funding)
        await fixture.fund(project, BigInt(command.micro), funding) // the same funding again adds nothing
        setup.fund(project, BigInt(command.micro))
        operations += 2
        break
      }
      case 'correct': {
        const project = setup.projects[command.project % setup.projects.length]!
        operations += await playCorrection(setup, project, BigInt(command.micro), `c-${turn}`, replica, seen)
        break
      }
      case 'revoke':
        await setup.revoke(command.key)
        operations++
        break
      case 'end instance':
        await setup.endInstance()
        operations++
        break
    }
  }
  await expectSameBalances(setup, replicas[0]!)
  return operations
}

async function expectSameBalances(setup: HistorySetup, replica: Database): Promise<void> {
  const { prisma } = replica
  const wallets = await prisma.wallet.findMany({ where: { project: { in: setup.projects } } })
  for (const project of setup.projects) {
    const found = wallets.find((wallet) => wallet.project === project)
    const expected = setup.book.wallets.get(project) ?? { funded: 0n, reserved: 0n, settled: 0n }
    expect({ funded: found?.funded ?? 0n, reserved: found?.reserved ?? 0n, settled: found?.settled ?? 0n }).toEqual(
      expected,
    )
    expect(availableIn(expected)).toBeGreaterThanOrEqual(0n)
  }
  const meters = await prisma.meter.findMany({ where: { project: { in: setup.projects } } })
  expect(
    new Map(
      meters.map((m) => [m.lineage, { windowStartMs: m.windowStart.getTime(), spent: m.spent, reserved: m.reserved }]),
    ),
  ).toEqual(setup.book.meters)
  const open = await prisma.reservation.findMany({ where: { project: { in: setup.projects } } })
  expect(open.map(({ id }) => id).toSorted()).toEqual([...setup.book.open.keys()].toSorted())
  const report = await checkBooks(replica, { projects: setup.projects })
  expect(report.findings.map(sayFinding)).toEqual([])
}
