import { deepStrictEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import { callFunction } from '@gateway/database/call-function'
import { openDatabase, type Database } from '@gateway/database/client'
import { openFixture, type Fixture } from '@gateway/testbed/fixture'
import { checkBooks, formatFinding } from '../src/check/check-books.ts'
import { availableIn } from './book.ts'
import { buildHistorySetup, type HistorySetup } from './history-setup.fixture.ts'
import {
  playBatch,
  playCorrection,
  playLateAnswers,
  playNodeClosings,
  playRestoration,
} from './play-history.fixture.ts'
import { command, type Command } from './random-history.fixture.ts'

// Compares the SQL decision with the pure one on the same random histories: every outcome of every item, and every
// balance afterwards. Histories alternate between two replicas.

/** Every outcome there is; each must have been seen. */
const OUTCOMES = [
  'admitted',
  'again',
  'budget_reached',
  'closed',
  'context_limit',
  'copy',
  'copy key_limit',
  'copy budget_reached',
  'copy insufficient_budget',
  'instance_unknown',
  'idempotency_mismatch',
  'images_unsupported',
  'insufficient_budget',
  'key_expired',
  'key_invalid',
  'key_issuer_denied',
  'key_limit',
  'key_paused',
  'key_revoked',
  'key_scope',
  'key_unbound',
  'model_not_found',
  'project_mismatch',
  'tag_mismatch',
  'replay',
  'running',
  'unsupported_parameter',
  'would_admit',
  'closing settled',
  'closing released',
  'closing fenced',
  'closing unknown',
  'closing alive',
  'closing unknown of a node',
  'node admitted',
  'node ceiling_reached',
  'node again',
  'node budget_reached',
  'node closed',
  'node context_limit',
  'node fenced',
  'node instance_unknown',
  'node images_unsupported',
  'node insufficient_budget',
  'node key_issuer_denied',
  'node key_limit',
  'node key_paused',
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
  'restoration of a lost reservation',
  'restoration of less than was reserved',
  'restoration of what was not lost',
  'late answer written off',
  'late answer of no one',
  'wallet.below',
  'key.percent',
  'budget.percent',
]
const COMMANDS = 25

interface Where {
  adminUrl: string
  ledgerUrl: string
}

/**
 * Plays random histories until this many operations were compared and every outcome was seen, or until four times as
 * many were compared. Throws at the first difference, with the seed and the path of its history.
 * @returns the number of operations, and the outcomes that never occurred
 */
export async function playHistories(
  { adminUrl, ledgerUrl }: Where,
  wanted: number,
  report: (operations: number) => void = () => {},
): Promise<{ operations: number; missing: string[] }> {
  const fixture = await openFixture(adminUrl)
  const replicas = [
    await openDatabase({ url: ledgerUrl, poolSize: 1 }),
    await openDatabase({ url: ledgerUrl, poolSize: 1 }),
  ]
  let operations = 0
  const seen = new Map<string, number>()
  // Histories that never reach an outcome prove nothing about it, so playing continues until every outcome was seen.
  const missing = () => OUTCOMES.filter((outcome) => !seen.has(outcome))
  const enough = () => operations >= wanted && (missing().length === 0 || operations >= 4 * wanted)
  try {
    for (let seed = Date.now(); !enough(); seed++) {
      const property = fc.asyncProperty(
        fc.array(command, { minLength: COMMANDS >> 1, maxLength: COMMANDS }),
        async (commands) => {
          operations += await playHistory(commands, replicas, fixture, seen)
        },
      )
      await fc.assert(property, { numRuns: 4, seed, endOnFailure: false })
      report(operations)
    }
  } finally {
    await fixture.close()
    for (const replica of replicas) await replica.close()
  }
  return { operations, missing: missing() }
}

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
        operations += await playBatch(setup, command, ids, replica, seen)
        break
      case 'close nodes':
        operations += await playNodeClosings(setup, command.closings, ids, replica, seen)
        break
      case 'late answers':
        operations += await playLateAnswers(setup, command.answers, replica, seen)
        break
      case 'rotate':
        await setup.rotate(command.key)
        operations++
        break
      case 'fail execution':
        await setup.executions.fail(command.which)
        operations++
        break
      case 'withdraw user':
        await setup.executions.withdrawUser()
        operations++
        break
      case 'fund': {
        const project = setup.projects[command.project % setup.projects.length]!
        const funding = `f-${turn}`
        await fixture.fund(project, BigInt(command.micro), funding)
        await fixture.fund(project, BigInt(command.micro), funding) // repeating the funding adds nothing
        setup.fund(project, BigInt(command.micro))
        operations += 2
        break
      }
      case 'correct': {
        const project = setup.projects[command.project % setup.projects.length]!
        operations += await playCorrection(setup, project, BigInt(command.micro), `c-${turn}`, replica, seen)
        break
      }
      case 'restore':
        operations += await playRestoration(setup, command, ids, replica, seen)
        break
      case 'set budget':
        await setup.setBudget(replica, command)
        operations++
        break
      case 'revoke':
        await setup.revoke(command.key)
        operations++
        break
      case 'pause':
        await setup.pause(command.key)
        operations++
        break
      case 'end instance':
        await setup.endInstance()
        operations++
        break
    }
  }
  await callFunction(replicas[0]!.sql, 'money.roll_up_usage', {
    projects: setup.projects,
    max_entries: 1_000_000,
  })
  await compareBalances(setup, replicas[0]!, seen)
  return operations
}

/** Throws unless every balance, meter and reservation equals the pure decision's, and the books and usage add up. */
async function compareBalances(setup: HistorySetup, replica: Database, seen: Map<string, number>): Promise<void> {
  const { prisma } = replica
  const wallets = await prisma.wallet.findMany({ where: { project: { in: setup.projects } } })
  for (const project of setup.projects) {
    const found = wallets.find((wallet) => wallet.project === project)
    const expected = setup.book.wallets.get(project) ?? { funded: 0n, reserved: 0n, settled: 0n }
    const { funded = 0n, reserved = 0n, settled = 0n } = found ?? {}
    deepStrictEqual({ funded, reserved, settled }, { ...expected })
    ok(availableIn(expected) >= 0n)
  }
  const meters = await prisma.meter.findMany({ where: { project: { in: setup.projects } } })
  const found = meters.map(
    (m) => [m.lineage, { windowStartMs: m.windowStart.getTime(), spent: m.spent, reserved: m.reserved }] as const,
  )
  deepStrictEqual(new Map(found), setup.book.meters)
  const budgets = await prisma.budget.findMany({ where: { tenant: setup.tenant } })
  deepStrictEqual(
    new Map(budgets.map(({ id, windowStart, spent, reserved }) => [id, [windowStart.getTime(), spent, reserved]])),
    new Map([...setup.book.budgets].map(([id, b]) => [id, [b.windowStartMs, b.spent, b.reserved]])),
  )
  const open = await prisma.reservation.findMany({ where: { project: { in: setup.projects } } })
  deepStrictEqual(open.map(({ id }) => id).toSorted(), [...setup.book.open.keys()].toSorted())
  const products = await prisma.product.findMany({ where: { id: { in: setup.models } } })
  const raised = products.filter(({ factorMillionths }) => factorMillionths !== 1_000_000)
  deepStrictEqual(new Map(raised.map(({ id, factorMillionths }) => [id, BigInt(factorMillionths)])), setup.book.factors)
  const writeOffs = await prisma.writeOff.findMany({ where: { reservation: { in: [...setup.book.closed.keys()] } } })
  deepStrictEqual(
    new Map(writeOffs.map(({ reservation, kind, micro }) => [`${reservation} ${kind}`, micro])),
    setup.book.writeOffs,
  )
  const notices = await prisma.notice.findMany({ where: { project: { in: setup.projects } } })
  deepStrictEqual(
    notices
      .map(({ kind, project, lineage, windowStart, limitMicro, details, threshold }) =>
        kind === 'budget.percent'
          ? `${kind} ${(details as { budget: string }).budget} ${windowStart!.getTime()} ${limitMicro} ${threshold}`
          : lineage === null
            ? `${kind} ${project} ${threshold}`
            : `${kind} ${lineage} ${windowStart!.getTime()} ${threshold}`,
      )
      .toSorted(),
    setup.book.notices.toSorted(),
  )
  for (const { kind } of notices) seen.set(kind, (seen.get(kind) ?? 0) + 1)
  const report = await checkBooks(replica, { projects: setup.projects })
  deepStrictEqual(report.findings.map(formatFinding), [])
}
