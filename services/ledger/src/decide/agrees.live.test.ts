import { createHash, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, describe, expect } from 'vitest'
import type { AdmitItem } from '@gateway/contracts/ledger-items'
import { openDatabase, type Database } from '@gateway/database/client'
import { liveTest } from '@gateway/testbed/live-test'
import { openWorld, type World } from '@gateway/testbed/world'
import { batchRunner, type BatchRows } from '../batch/run-batch.ts'
import type { ClosingItem, Waiting } from '../batch/waiting-items.ts'
import { checkBooks, sayFinding } from '../check/check-books.ts'
import { availableIn } from './book.ts'
import { buildScene, type Scene } from './scene.fixture.ts'
import { decideBatch } from './decide-batch.ts'

// The SQL decision and the pure one, on the same random histories: every outcome of every item, and every balance after.
// The histories go to two replicas in turn. fast-check prints the seed and the path of a history that fails.

const OPERATIONS = 100_000
const ITEMS = 40
/** Every outcome there is; each must have been seen. */
const OUTCOMES = [
  'admitted',
  'again',
  'closed',
  'context_limit',
  'copy',
  'copy key_limit',
  'copy insufficient_budget',
  'holder_unknown',
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
]
const COMMANDS = 25

/** One in `n` of them, and null else. `fc.option` has it the other way round: its `freq` is how seldom there is null. */
const oneIn = <T>(n: number, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: n - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })

const admission = fc.record({
  key: fc.nat(),
  model: fc.nat(),
  selector: fc.constantFrom(null, null, null, null, null, null, 'own', 'own', 'own', 'other'),
  holder: fc.constantFrom('alive', 'alive', 'alive', 'alive', 'alive', 'ended'),
  bytes: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 20, max: 2_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 20, max: 128_000 }) },
  ),
  messages: fc.integer({ min: 1, max: 100 }),
  tools: fc.constantFrom(0, 0, 1, 64),
  images: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1),
  counted: oneIn(8, fc.integer({ min: 1, max: 30_000 })),
  maxTokens: fc.option(fc.constantFrom(0, 1, 10, 100, 300, 300, 300, 4_000, 8_192, 9_000), { freq: 3 }),
  parameters: fc.constantFrom<string[]>([], [], [], [], [], [], ['tools'], ['tools'], ['tools', 'logprobs']),
  /** Small, so that keys meet again: repeats, mismatches, copies in one batch. */
  idempotency: fc.option(fc.nat(12), { freq: 3 }),
  body: fc.nat(3),
  /** Asks again with an id from before. */
  sameIdAs: oneIn(12, fc.nat()),
  /** Asks what another one in its batch asks, under an id of its own. */
  copyOf: oneIn(6, fc.nat()),
})
const closing = fc.record({
  op: fc.constantFrom('settle' as const, 'settle' as const, 'settle' as const, 'release' as const, 'expire' as const),
  of: fc.nat(),
  promptTokens: fc.integer({ min: 0, max: 40_000 }),
  completionTokens: fc.integer({ min: 0, max: 10_000 }),
  /** An id that was never admitted. */
  stranger: fc.integer({ min: 0, max: 40 }).map((n) => n === 0),
})
const command = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      admissions: fc.array(admission, { minLength: 10, maxLength: ITEMS }),
      closings: fc.array(closing, { minLength: 10, maxLength: ITEMS }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fund' as const),
      project: fc.nat(),
      micro: fc.integer({ min: 1, max: 60_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const), key: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end holder' as const) }) },
)
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never
type Admission = typeof admission extends fc.Arbitrary<infer A> ? A : never
type Closing = typeof closing extends fc.Arbitrary<infer C> ? C : never

describe('the decision in SQL and the pure one', () => {
  let replicas: Database[]
  let world: World
  const test = liveTest

  afterAll(async () => {
    await world?.close()
    for (const replica of replicas ?? []) await replica.close()
  })

  test(
    `agree on every item of ${OPERATIONS} random ones, and on every balance`,
    { timeout: 600_000 },
    async ({ database }) => {
      world = await openWorld(database.adminUrl)
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
            operations += await playHistory(commands, replicas, world, seen)
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
  world: World,
  seen: Map<string, number>,
): Promise<number> {
  const scene = await buildScene(world)
  const ids: string[] = []
  let operations = 0
  for (const [turn, command] of commands.entries()) {
    const replica = replicas[turn % replicas.length]!
    switch (command.kind) {
      case 'batch':
        operations += await playBatch(scene, command.admissions, command.closings, ids, replica, seen)
        break
      case 'fund': {
        const project = scene.projects[command.project % scene.projects.length]!
        const funding = `f-${turn}`
        await world.fund(project, BigInt(command.micro), funding)
        await world.fund(project, BigInt(command.micro), funding) // the same funding again adds nothing
        scene.fund(project, BigInt(command.micro))
        operations += 2
        break
      }
      case 'revoke':
        await scene.revoke(command.key)
        operations++
        break
      case 'end holder':
        await scene.endHolder()
        operations++
        break
    }
  }
  await expectSameBalances(scene, replicas[0]!)
  return operations
}

async function playBatch(
  scene: Scene,
  wanted: Admission[],
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
  const outcomes = [...rows.admissions.map((row) => row[1]), ...rows.closings.map((row) => `closing ${row[1]}`)]
  outcomes.push(...refusedCopies(admissions, decided.admissions))
  for (const outcome of outcomes) seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
  for (const [n, { code }] of decided.admissions.entries()) if (code === 'admitted') ids.push(admissions[n]!.id)
  return admissions.length + closings.length
}

/** The refusals of copies: the same key, idempotency key and body as one before it in the batch. */
function refusedCopies(items: AdmitItem[], decisions: { code: string }[]): string[] {
  const before = new Set<string>()
  return items.flatMap(({ keyHash, idempotency }, n) => {
    const name = `${keyHash} ${idempotency?.key} ${idempotency?.fingerprint}`
    const isCopy = idempotency !== null && before.has(name)
    before.add(name)
    return isCopy ? [`copy ${decisions[n]!.code}`] : []
  })
}

function waiting<T extends AdmitItem | ClosingItem>(item: T): Waiting<T> {
  return { item, dropAtMs: Infinity, deferrals: 0, ambiguous: false, answer: () => {} }
}

function admitItems(wanted: Admission[], scene: Scene, ids: string[]): AdmitItem[] {
  const items: AdmitItem[] = []
  for (const one of wanted) {
    const first = one.copyOf === null ? undefined : items[one.copyOf % items.length]
    items.push(first ? { ...first, id: freshId() } : admitItem(one, scene, ids))
  }
  return items
}

const freshId = () => `inv_${randomBytes(8).toString('hex')}`

function admitItem(one: Admission, scene: Scene, ids: string[]): AdmitItem {
  const key = scene.keyHashes[one.key % scene.keyHashes.length]!
  const project = scene.book.keys.get(key)?.project ?? scene.projects[0]!
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  return {
    op: 'admit',
    id: one.sameIdAs !== null && ids.length > 0 ? ids[one.sameIdAs % ids.length]! : freshId(),
    holder: scene.holders[one.holder],
    keyHash: key,
    selector: one.selector === 'own' ? project : one.selector === 'other' ? 'prj_elsewhere' : null,
    model: scene.models[one.model % scene.models.length]!,
    parameters: one.parameters,
    measures: {
      bytes: one.bytes,
      messages: one.messages,
      tools: one.tools,
      images: one.images,
      counted: one.counted,
      maxTokens: one.maxTokens,
    },
    idempotency:
      one.idempotency === null
        ? null
        : { key: `idem-${one.idempotency}`, fingerprint: digest(`body ${one.body === 0}`) },
  }
}

function closingItem(one: Closing, ids: string[]): ClosingItem {
  const id =
    one.stranger || ids.length === 0
      ? `inv_stranger_${randomBytes(6).toString('hex')}`
      : ids[ids.length - 1 - (one.of % Math.min(ids.length, 120))]!
  if (one.op === 'settle')
    return {
      op: 'settle',
      id,
      usage: { promptTokens: one.promptTokens, completionTokens: one.completionTokens, estimated: false },
      answer: null,
    }
  return one.op === 'release' ? { op: 'release', id, reason: 'test' } : { op: 'expire', id }
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
