import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import type { Fixture } from '@gateway/testbed/fixture'
import { ranOutOfTime } from '../admissions/classify-error.ts'
import type { Outcome } from '../admissions/waiting-items.ts'
import { claimOf, ending, newLease, openEngine, question, takeNext } from '../fixtures/engine.ts'
import { findingsOf, openTenant, test, walletOf } from '../fixtures/ledger-test.ts'
import { codeOf, countCodes, openReplica, type RunBatch } from '../fixtures/replica.ts'
import { activatePackage, oneCall, publishProduct } from '../fixtures/sandbox-products.ts'
import { openReservationReaper } from '../maintenance/reservation-reaper.ts'
import { retryQuarantined } from '../maintenance/maintenance-jobs.ts'
import { withShortTimeout } from './resilient-batches.ts'

// A row that cannot be written affects only its project, and nothing is lost.

const OPEN = 40
/** Longer than every back-off. */
const LONG_MS = 200_000

/** Opens a replica whose clock a test can set forward, and records the sizes of its batches. */
async function openWatched(url: string, around: (run: RunBatch) => RunBatch = (run) => run) {
  let aheadMs = 0
  const sizes: number[] = []
  const counted =
    (run: RunBatch): RunBatch =>
    (database, batch, waitForLocks) => {
      sizes.push(batch.admissions.length + batch.closings.length)
      return run(database, batch, waitForLocks)
    }
  const now = () => performance.now() + aheadMs
  const replica = await openReplica(url, { now, around: (run) => counted(around(run)) })
  return { ...replica, now, sizes, setForward: (ms: number) => void (aheadMs += ms) }
}

/** Repeats a closing until it is decided, as its sender does. */
async function untilDecided(ask: () => Promise<Outcome>): Promise<Outcome> {
  for (let tries = 0; ; tries++) {
    const outcome = await ask()
    if (outcome.kind !== 'undecided') return outcome
    await delay(Math.min(25 * 2 ** tries, 500))
  }
}

const spoil = (fixture: Fixture, project: string) =>
  fixture.run('UPDATE money.wallets SET reserved = 0 WHERE project = $1', [project])

const mend = (fixture: Fixture, project: string) =>
  fixture.run(
    `UPDATE money.wallets SET reserved = (SELECT sum(micro) FROM money.reservations WHERE project = $1) WHERE project = $1`,
    [project],
  )

const passDeadline = (fixture: Fixture, execution: string) =>
  fixture.run(
    `UPDATE money.executions SET deadline_at = now() - interval '1 second', version = version + 1 WHERE id = $1`,
    [execution],
  )

const nextTryNow = (fixture: Fixture) =>
  fixture.run("UPDATE money.quarantined_items SET next_try_at = clock_timestamp() - interval '1 ms'")
const keptOf = async (fixture: Fixture, project: string) =>
  (await fixture.run('SELECT name FROM money.quarantined_items WHERE project = $1', [project])).rowCount

const endInstance = (fixture: Fixture, { instance }: { instance: string }, ended = true) =>
  fixture.run('UPDATE money.instances SET ended_at = CASE WHEN $2 THEN now() END WHERE id = $1', [instance, ended])

describe('a corrupt wallet row', () => {
  test('affects only its project; its settlements are kept and written once the row is fixed', async ({
    database,
    fixture,
    tenant,
    engine,
  }) => {
    const replica = await openWatched(database.ledgerUrl)
    const deps = { ...replica, quarantine: replica.memory, nodeBatcher: engine.nodeBatcher }
    const busy = await openTenant(fixture)
    const project = tenant.project.id
    const open = Array.from({ length: OPEN }, () => replica.item(tenant.key, tenant.product))
    await Promise.all(open.map((item) => replica.admit(item)))
    await spoil(fixture, project)

    const ending = open.map(({ id }) => untilDecided(() => replica.settle(id)))
    const calls = Array.from({ length: 300 }, async () => {
      const item = replica.item(busy.key, busy.product)
      const outcome = await replica.admit(item)
      return outcome.kind === 'admitted' ? replica.settle(item.id) : outcome
    })
    expect(countCodes(await Promise.all(calls))).toEqual({ settled: 300 })
    expect(countCodes(await Promise.all(ending))).toEqual({ quarantined: OPEN })
    expect(replica.quarantined.length).toBeLessThan(10)
    expect(await keptOf(fixture, project)).toBe(OPEN)

    // While the row is wrong, its calls are refused at once: they could not be charged.
    const before = replica.sizes.length
    for (let n = 0; n < 20; n++)
      expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product)))).toBe('unavailable')
    expect(replica.sizes.length).toBe(before)

    // A kept settlement is not released, even if its gateway has ended, and retrying it fails.
    await endInstance(fixture, replica)
    expect(await retryQuarantined(deps)).toEqual({ written: 0 })
    await mend(fixture, project)
    expect(await openReservationReaper({ ...replica, replicaId: 'ldg_1' }, { graceMs: 30_000 }).runOnce()).toEqual({
      expired: 0,
    })

    await nextTryNow(fixture)
    replica.setForward(LONG_MS)
    expect(await retryQuarantined(deps)).toEqual({ written: OPEN })
    expect(await walletOf(replica, project)).toEqual({ funded: 1_000_000n, reserved: 0n, settled: BigInt(OPEN * 10) })
    expect(await keptOf(fixture, project)).toBe(0)
    await endInstance(fixture, replica, false)
    expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product)))).toBe('admitted')
    for (const one of [tenant, busy]) expect(await findingsOf(replica, one.project.id)).toEqual([])
    await replica.close()
  })

  test('quarantines repeated releases, and leaves them to the deadline of the reservation', async ({
    database,
    fixture,
    tenant,
  }) => {
    const replica = await openWatched(database.ledgerUrl)
    const open = Array.from({ length: 5 }, () => replica.item(tenant.key, tenant.product))
    await Promise.all(open.map((item) => replica.admit(item)))
    await spoil(fixture, tenant.project.id)
    const ending = open.map(({ id }) => untilDecided(() => replica.release(id)))
    expect(countCodes(await Promise.all(ending))).toEqual({ quarantined: 5 })
    expect(await keptOf(fixture, tenant.project.id)).toBe(0)
    await mend(fixture, tenant.project.id)
    replica.setForward(LONG_MS)
    await endInstance(fixture, replica)
    const reaper = openReservationReaper({ ...replica, replicaId: 'ldg_1' }, { graceMs: 30_000 })
    for (let rounds = 0; rounds < 2; rounds++) await reaper.runOnce()
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
    await replica.close()
  })

  test('does not keep the reservations of other projects from being released, however many it has itself', async ({
    database,
    fixture,
    tenant,
  }) => {
    const replica = await openWatched(database.ledgerUrl)
    const busy = await openTenant(fixture)
    const open = Array.from({ length: 5 }, () => replica.item(tenant.key, tenant.product))
    for (const item of open) await replica.admit(item)
    await replica.admit(replica.item(busy.key, busy.product))
    await spoil(fixture, tenant.project.id)
    await endInstance(fixture, replica)
    const reaper = openReservationReaper({ ...replica, replicaId: 'ldg_1' }, { graceMs: 30_000, atOnce: 2 })
    expect(await reaper.runOnce()).toEqual({ expired: 1 })
    expect(await walletOf(replica, busy.project.id)).toMatchObject({ reserved: 0n })
    await mend(fixture, tenant.project.id)
    replica.setForward(LONG_MS)
    for (let turns = 0; turns < 2; turns++) {
      await reaper.runOnce()
      replica.setForward(LONG_MS)
    }
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    for (const one of [tenant, busy]) expect(await findingsOf(replica, one.project.id)).toEqual([])
    await replica.close()
  })

  test('does not hold up other executions; a completion is kept, its node is not reclaimed, and it is charged in the end', async ({
    database,
    fixture,
    replica,
    tenant,
    begin,
    admit,
  }) => {
    let aheadMs = 0
    const engine = await openEngine(database.ledgerUrl, { now: () => performance.now() + aheadMs, lateMs: 0 })
    const instance = await engine.newInstance()
    const execution = await begin(oneCall(tenant.product), engine)
    const taken = await takeNext(engine, instance, execution)
    await admit(instance, taken)
    await spoil(fixture, tenant.project.id)
    const usage = { promptTokens: 1, completionTokens: 20, estimated: false }
    const complete = () => engine.complete(ending(taken, { usage }))
    const kinds: string[] = []
    for (let kind = ''; kind !== 'quarantined'; kinds.push(kind)) {
      kind = (await complete()).kind
      aheadMs += 5_000
    }
    expect(kinds).toEqual(['undecided', 'undecided', 'quarantined'])
    const { claim, lease } = taken
    const again = { execution, node: taken.job.node, attempt: claim.attempt, lease, instance }
    expect(await engine.claim(again)).toMatchObject({ kind: 'claimed' }) // its worker may continue
    expect(await complete()).toEqual({ kind: 'quarantined' })

    await engine.endInstance(instance)
    await mend(fixture, tenant.project.id)
    expect(await engine.reclaim()).toEqual({ rescued: 0 })
    await nextTryNow(fixture)
    aheadMs += LONG_MS
    const retried = retryQuarantined({
      ...engine,
      quarantine: engine.memory,
      admissionBatcher: replica.admissionBatcher,
    })
    expect(await retried).toEqual({ written: 1 })
    expect(await engine.record(execution)).toMatchObject({ chargedMicro: 20, nodes: [{}, { status: 'Succeeded' }, {}] })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
    await engine.close()
  })

  test('does not end an execution whose completion is kept: it is charged after its deadline, and nothing is written off', async ({
    database,
    fixture,
    replica,
    tenant,
    begin,
    admit,
  }) => {
    let aheadMs = 0
    const engine = await openEngine(database.ledgerUrl, { now: () => performance.now() + aheadMs })
    const instance = await engine.newInstance()
    const executions = [1, 2, 3].map(() => begin(oneCall(tenant.product), engine))
    const taken = await Promise.all(executions.map(async (execution) => takeNext(engine, instance, await execution)))
    for (const one of taken) await admit(instance, one)
    await spoil(fixture, tenant.project.id)
    const usage = { promptTokens: 1, completionTokens: 20, estimated: false }
    for (const one of taken) {
      const complete = () => engine.complete(ending(one, { usage, reservation: one.claim.callReservation }))
      while ((await complete()).kind !== 'quarantined') aheadMs += LONG_MS
    }

    const isRefused = () => engine.memory.find('another', [`closings ${tenant.project.id}`]) !== null
    expect(isRefused()).toBe(true)
    for (const { job } of taken) {
      await passDeadline(fixture, job.execution)
      aheadMs += LONG_MS
      await engine.endOverdue()
      expect(await engine.record(job.execution)).toMatchObject({ error: { code: 'execution_timeout' } })
    }
    expect(isRefused()).toBe(true) // failing closes no reservation, so the row may still be wrong
    for (const { job } of taken) await passDeadline(fixture, job.execution)
    await engine.endOverdue()

    await mend(fixture, tenant.project.id)
    aheadMs += LONG_MS
    await engine.endOverdue()
    await nextTryNow(fixture)
    const retried = { ...engine, quarantine: engine.memory, admissionBatcher: replica.admissionBatcher }
    expect(await retryQuarantined(retried)).toEqual({ written: 3 })
    expect(isRefused()).toBe(false)
    for (const { job } of taken)
      expect(await engine.record(job.execution)).toMatchObject({ status: 'Failed', chargedMicro: 20 })
    const writtenOff = await fixture.run('SELECT FROM money.write_offs WHERE product = $1', [tenant.product])
    expect(writtenOff.rowCount).toBe(0)
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
    await engine.close()
  })
})

describe('a package', () => {
  const wrongs: [what: string, spoil: string][] = [
    ['is missing', `UPDATE money.executions SET digest = 'nowhere' WHERE sandbox = $1`],
    ['is not JSON', `UPDATE control.packages SET package = '{' WHERE sandbox = $1`],
    ['is not a package', `UPDATE control.packages SET package = '{"nodes":7}' WHERE sandbox = $1`],
  ]
  const spoilPackages = async (fixture: Fixture, spoilPackage: string, sandbox: string) => {
    await fixture.run('SET session_replication_role = replica') // packages are immutable
    await fixture.run(spoilPackage, [sandbox])
    await fixture.run('SET session_replication_role = origin')
  }

  test.for(wrongs)(
    'that %s does not keep its executions from ending after their deadline, or their reservations open',
    async ([, spoilPackage], { database, fixture, tenant, engine, replica, admit }) => {
      const graph = oneCall(tenant.product)
      const sandbox = await publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph })
      await activatePackage(fixture, { sandbox, revision: 1 }, graph, '2')
      const [waiting, running] = [question(tenant.key, sandbox), question(tenant.key, sandbox)]
      for (const asked of [waiting, running]) expect(await engine.start(asked)).toMatchObject({ kind: 'started' })
      const instance = await engine.newInstance()
      await admit(instance, await takeNext(engine, instance, running.id))
      await spoilPackages(fixture, spoilPackage, sandbox)

      const fresh = await openEngine(database.ledgerUrl)
      for (let turns = 0; turns < 2; turns++) {
        for (const { id } of [waiting, running]) await passDeadline(fixture, id)
        await fresh.endOverdue()
      }
      const failed = { status: 'Failed', error: { code: 'execution_timeout' }, chargedMicro: 0 }
      for (const { id } of [waiting, running]) expect(await fresh.record(id)).toMatchObject(failed)
      expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
      expect(await findingsOf(replica, tenant.project.id)).toEqual([])
      await fresh.close()
    },
  )

  test.for(wrongs)(
    'that %s does not hold up other executions; its own nodes stay undecided',
    async ([, spoilPackage], { database, fixture, tenant, engine }) => {
      const begin = async (sandbox: string) => {
        const asked = question(tenant.key, sandbox)
        expect(await engine.start(asked)).toMatchObject({ kind: 'started' })
        return engine.jobs.find(({ execution }) => execution === asked.id)!
      }
      const publish = () =>
        publishProduct(fixture, tenant.project.id, tenant.owners.owner, { graph: oneCall(tenant.product) })
      const [wrong, right] = [await publish(), await publish()]
      for (const sandbox of [wrong, right])
        await activatePackage(fixture, { sandbox, revision: 1 }, oneCall(tenant.product), '2')
      const [bad, good] = [await begin(wrong), await begin(right)]
      await spoilPackages(fixture, spoilPackage, wrong)

      const fresh = await openEngine(database.ledgerUrl)
      const instance = await fresh.newInstance()
      const claim = (job: typeof bad) => fresh.claim({ ...claimOf(job), lease: newLease(), instance })
      const outcomes = await Promise.all([claim(bad), claim(good)])
      expect(outcomes.map(({ kind }) => kind)).toEqual(['undecided', 'claimed'])
      const starts = await Promise.allSettled(
        [wrong, right].map((sandbox) => fresh.start(question(tenant.key, sandbox))),
      )
      expect(starts[1]).toMatchObject({ status: 'fulfilled', value: { kind: 'started' } })
      if (!spoilPackage.includes('executions')) expect(starts[0]).toMatchObject({ status: 'rejected' })
      await fresh.close()
    },
  )
})

describe('a batch that cannot be written', () => {
  test('is bisected: one bad item of 500 costs fewer than 25 batches', async ({ database, tenant }) => {
    const replica = await openWatched(database.ledgerUrl)
    const items = Array.from({ length: 500 }, (_, n) =>
      replica.item(tenant.key, tenant.product, n === 321 ? { model: 'nul \u0000 byte' } : {}),
    )
    const outcomes = await Promise.all(items.map((item) => replica.admit(item)))
    expect(countCodes(outcomes)).toEqual({ admitted: 499, undecided: 1 })
    expect(replica.sizes.length).toBeLessThan(25)
    expect(replica.quarantined).toEqual([items[321]!.id])
    await replica.close()
  })

  test('does not fail again because of the same item, which is retried alone and refused in the end', async ({
    database,
    tenant,
  }) => {
    const replica = await openWatched(database.ledgerUrl)
    const bad = replica.item(tenant.key, tenant.product, { model: 'nul \u0000 byte' })
    const good = () => replica.item(tenant.key, tenant.product)
    const kinds: string[] = []
    for (let round = 0; round < 4; round++) {
      const before = replica.sizes.length
      const [, outcome] = await Promise.all([replica.admit(good()), replica.admit(bad), replica.admit(good())])
      kinds.push(codeOf(outcome))
      if (round > 0) expect(replica.sizes.slice(before).filter((size) => size > 1).length).toBeLessThan(2)
      replica.setForward(5_000)
    }
    expect(kinds).toEqual(['undecided', 'undecided', 'unavailable', 'unavailable'])
    await replica.close()
  })

  test('because it keeps timing out is bisected too', async ({ database, tenant }) => {
    let bad = ''
    const slow =
      (run: RunBatch): RunBatch =>
      async (database, batch, waitForLocks) => {
        if (batch.closings.some(({ item }) => item.id === bad))
          throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
        return run(database, batch, waitForLocks)
      }
    const replica = await openWatched(database.ledgerUrl, slow)
    const items = Array.from({ length: 60 }, () => replica.item(tenant.key, tenant.product))
    await Promise.all(items.map((item) => replica.admit(item)))
    bad = items[17]!.id
    const outcomes = await Promise.all(items.map(({ id }) => replica.settle(id)))
    expect(countCodes(outcomes)).toEqual({ settled: 59, undecided: 1 })
    expect(replica.quarantined).toEqual([bad])
    await replica.close()
  })

  test('has a short timeout while it is bisected', async ({ replica }) => {
    const asleep = withShortTimeout(replica.reads, (transaction) => transaction.query('SELECT pg_sleep(4)'))
    expect(ranOutOfTime(await asleep.catch((error: unknown) => error))).toBe(true)
  })
})
