import fc from 'fast-check'
import { afterAll, describe, expect } from 'vitest'
import { openDatabase, type Database } from '@gateway/database/client'
import { liveTest } from '@gateway/testbed/live-test'
import { openFixture, type Fixture } from '@gateway/testbed/fixture'
import { batchRunner, type BatchRows } from '../src/admissions/run-batch.ts'
import type { AdmissionItem, ClosingItem, Waiting } from '../src/admissions/waiting-items.ts'
import { checkBooks, sayFinding } from '../src/check/check-books.ts'
import { closeNodes, type HeldNode } from '../src/fixtures/execution-rows.ts'
import { availableIn } from './book.ts'
import { decideBatch, decideClosings } from './decide-batch.ts'
import { admitItems, closingItem } from './items-of-history.fixture.ts'
import {
  command,
  type Admission,
  type Closing,
  type Command,
  type NodeAdmission,
  type NodeClosing,
} from './random-history.fixture.ts'
import { buildScene, type Scene } from './history-tenant.fixture.ts'

// The SQL decision and the pure one, on the same random histories: every outcome of every item, and every balance after.
// The histories go to two replicas in turn. fast-check prints the seed and the path of a history that fails.

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
  const scene = await buildScene(fixture)
  const ids: string[] = []
  let operations = 0
  for (const [turn, command] of commands.entries()) {
    const replica = replicas[turn % replicas.length]!
    switch (command.kind) {
      case 'batch':
        operations += await playBatch(scene, command.admissions, command.closings, ids, replica, seen)
        break
      case 'close nodes':
        operations += await playNodeClosings(scene, command.closings, ids, replica, seen)
        break
      case 'rotate':
        await scene.rotate(command.key)
        operations++
        break
      case 'fail run':
        await scene.executions.fail(command.which)
        operations++
        break
      case 'withdraw person':
        await scene.executions.withdrawPerson()
        operations++
        break
      case 'fund': {
        const project = scene.projects[command.project % scene.projects.length]!
        const funding = `f-${turn}`
        await fixture.fund(project, BigInt(command.micro), funding)
        await fixture.fund(project, BigInt(command.micro), funding) // the same funding again adds nothing
        scene.fund(project, BigInt(command.micro))
        operations += 2
        break
      }
      case 'revoke':
        await scene.revoke(command.key)
        operations++
        break
      case 'end instance':
        await scene.endInstance()
        operations++
        break
    }
  }
  await expectSameBalances(scene, replicas[0]!)
  return operations
}

async function playBatch(
  scene: Scene,
  wanted: (Admission | NodeAdmission)[],
  ending: Closing[],
  ids: string[],
  replica: Database,
  seen: Map<string, number>,
): Promise<number> {
  const taken = new Set<string>()
  const once = <T extends { id: string }>(items: T[]) => items.filter(({ id }) => !taken.has(id) && taken.add(id))
  const closings = once(ending.map((one) => closingItem(one, ids)))
  const admissions = once(admitItems(wanted, scene, ids))
  const rows = await batchRunner(replica)(
    { admissions: admissions.map(waiting), closings: closings.map(waiting) },
    true,
  )
  const decided = decideBatch(scene.book, { admissions, closings }, rows.atMs)
  expect(closingsOf(rows)).toEqual(decided.closings.map((one) => [one.outcome, chargeOf(one)]))
  expect(admissionsOf(rows)).toEqual(
    decided.admissions.map((one) =>
      'reservation' in one
        ? [
            one.code,
            one.reservation.invocation,
            one.reservation.attempt,
            one.reservation.micro,
            one.reservation.outputCap,
          ]
        : 'invocation' in one
          ? [one.code, one.invocation]
          : [one.code],
    ),
  )
  const outcomes = rows.admissions.map(([ord, code]) => (admissions[ord - 1]!.op === 'admit' ? code : `node ${code}`))
  outcomes.push(...rows.closings.map((row) => `closing ${row[1]}`))
  outcomes.push(...refusedCopies(admissions, decided.admissions))
  for (const [n, { outcome }] of decided.closings.entries())
    if (outcome === 'unknown' && isOfNode(scene, closings[n]!.id)) outcomes.push('closing unknown of a node')
  for (const outcome of outcomes) seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
  for (const [n, { code }] of decided.admissions.entries()) if (code === 'admitted') ids.push(admissions[n]!.id)
  return admissions.length + closings.length
}

/** The refusals of copies: the same key, idempotency key and body as one before it in the batch. */
function refusedCopies(items: AdmissionItem[], decisions: { code: string }[]): string[] {
  const before = new Set<string>()
  return items.flatMap((item, n) => {
    if (item.op !== 'admit') return []
    const { keyHash, idempotency } = item
    const name = `${keyHash} ${idempotency?.key} ${idempotency?.fingerprint}`
    const isCopy = idempotency !== null && before.has(name)
    before.add(name)
    return isCopy ? [`copy ${decisions[n]!.code}`] : []
  })
}

function isOfNode({ book }: Scene, id: string): boolean {
  const found = book.open.get(id) ?? book.closed.get(id)
  return found !== undefined && found.node !== null
}

/** What money.close_v1 does, and then the leases end: an answered node is done, any other one is claimed anew. */
async function playNodeClosings(
  scene: Scene,
  wanted: NodeClosing[],
  ids: string[],
  replica: Database,
  seen: Map<string, number>,
): Promise<number> {
  const { held, lost } = scene.executions
  const taken = new Set<string>()
  const some = wanted.flatMap(({ of, instead, usage, keepsLease }) => {
    const node = instead === null ? held[of % held.length]! : instead === 'lost' ? lost[of % lost.length] : null
    const id = node ? node.reservation : ids[of % ids.length]
    if (node === undefined || id === undefined || taken.has(id)) return []
    taken.add(id)
    return [{ id, usage, keepsLease, node: instead === null ? node : null }]
  })
  const closed = await closeNodes(replica, scene.projects, some)
  const items = some.map(({ id, usage }): ClosingItem =>
    usage
      ? { op: 'settle', id, usage: { ...usage, estimated: false }, answer: null }
      : { op: 'release', id, reason: 'test' },
  )
  const decided = decideClosings(scene.book, items, true)
  expect(closed.map(({ outcome, chargedMicro, excessMicro }) => [outcome, chargedMicro, excessMicro])).toEqual(
    decided.map((one) => [one.outcome, Number(chargeOf(one)), 'close' in one ? Number(one.close.excessMicro) : 0]),
  )
  for (const { outcome } of closed) {
    const name = `node closing ${outcome}`
    seen.set(name, (seen.get(name) ?? 0) + 1)
  }
  const charged: { node: HeldNode; ends: boolean }[] = []
  const again: HeldNode[] = []
  for (const [n, { node, keepsLease }] of some.entries()) {
    if (node === null) continue
    if (closed[n]!.outcome === 'settled') charged.push({ node, ends: keepsLease === null })
    else again.push(node)
  }
  await scene.executions.replace(charged)
  await scene.executions.reclaim(again)
  return some.length
}

function waiting<T extends AdmissionItem | ClosingItem>(item: T): Waiting<T> {
  return { item, dropAtMs: Infinity, deferrals: 0, ambiguous: false, answer: () => {} }
}

function closingsOf(rows: BatchRows): unknown[][] {
  return rows.closings.toSorted((a, b) => a[0] - b[0]).map(([, outcome, charged]) => [outcome, BigInt(charged)])
}

function chargeOf(one: ReturnType<typeof decideBatch>['closings'][number]): bigint {
  if ('close' in one) return one.close.chargedMicro
  return 'before' in one ? one.before : 0n
}

function admissionsOf(rows: BatchRows): unknown[][] {
  return rows.admissions
    .toSorted((a, b) => a[0] - b[0])
    .map((row) => {
      if (row[1] === 'admitted') return [row[1], row[2], row[3], BigInt(row[8] as number), BigInt(row[7] as number)]
      const facts = row[2] as Record<string, unknown>
      if (row[1] === 'again')
        return [
          row[1],
          facts['invocation'],
          facts['attempt'],
          BigInt(facts['micro'] as number),
          BigInt(facts['outputCap'] as number),
        ]
      return row[1] === 'running' || row[1] === 'replay' ? [row[1], facts['invocation']] : [row[1]]
    })
}

async function expectSameBalances(scene: Scene, replica: Database): Promise<void> {
  const { prisma } = replica
  const wallets = await prisma.wallet.findMany({ where: { project: { in: scene.projects } } })
  for (const project of scene.projects) {
    const found = wallets.find((wallet) => wallet.project === project)
    const expected = scene.book.wallets.get(project) ?? { funded: 0n, reserved: 0n, settled: 0n }
    expect({ funded: found?.funded ?? 0n, reserved: found?.reserved ?? 0n, settled: found?.settled ?? 0n }).toEqual(
      expected,
    )
    expect(availableIn(expected)).toBeGreaterThanOrEqual(0n)
  }
  const meters = await prisma.meter.findMany({ where: { project: { in: scene.projects } } })
  expect(
    new Map(
      meters.map((m) => [m.lineage, { windowStartMs: m.windowStart.getTime(), spent: m.spent, reserved: m.reserved }]),
    ),
  ).toEqual(scene.book.meters)
  const open = await prisma.reservation.findMany({ where: { project: { in: scene.projects } } })
  expect(open.map(({ id }) => id).toSorted()).toEqual([...scene.book.open.keys()].toSorted())
  const report = await checkBooks(replica, { projects: scene.projects })
  expect(report.findings.map(sayFinding)).toEqual([])
}
