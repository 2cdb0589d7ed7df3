import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { describe, expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { openFixture } from '@gateway/testbed/fixture'
import { checkBooks, sayFinding } from '../check/check-books.ts'
import { codeOf, countCodes, openReplica } from '../fixtures/replica.ts'
import type { RunBatch } from './run-batch.ts'

// The rules of the money core (architecture.md), each by what would break if it did not hold.

const test = liveTest
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
  /** A project that holds a million micro-USD, with a key and a product of one micro-USD per output token. */
  .extend('tenant', async ({ fixture }) => {
    const owners = await fixture.tenant()
    const project = await fixture.project(owners, 1_000_000n)
    const product = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n })
    await fixture.assign(project.id, product)
    const key = await fixture.key({ project, by: owners.owner })
    return { owners, project, product, key }
  })

const wallet = async (replica: Awaited<ReturnType<typeof openReplica>>, project: string) => {
  const { funded, reserved, settled } = (await replica.reads.prisma.wallet.findUnique({ where: { project } }))!
  return { funded, reserved, settled }
}
const findingsOf = async (replica: Awaited<ReturnType<typeof openReplica>>, project: string) =>
  (await checkBooks(replica.reads, { projects: [project], whole: true })).findings.map(sayFinding)

describe('the last dollar is held once', () => {
  test('200 parallel calls on a wallet that holds 10 admit exactly 10 [insufficient_budget]', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const project = await fixture.project(tenant.owners, 1_000n)
    await fixture.assign(project.id, tenant.product)
    const key = await fixture.key({ project, by: tenant.owners.owner })
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, () => replica.admit(replica.item(key, tenant.product))),
    )
    expect(countCodes(outcomes)).toEqual({ admitted: 10, insufficient_budget: 190 })
    expect(await wallet(replica, project.id)).toEqual({ funded: 1_000n, reserved: 1_000n, settled: 0n })
    expect(await findingsOf(replica, project.id)).toEqual([])
  })

  test('the same through two replicas', async ({ fixture, replica, other, tenant }) => {
    const project = await fixture.project(tenant.owners, 1_050n)
    await fixture.assign(project.id, tenant.product)
    const key = await fixture.key({ project, by: tenant.owners.owner })
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 ? replica : other)).map((one) =>
        one.admit(one.item(key, tenant.product)),
      ),
    )
    expect(countCodes(outcomes)).toEqual({ admitted: 10, insufficient_budget: 190 })
    expect(await wallet(replica, project.id)).toEqual({ funded: 1_050n, reserved: 1_000n, settled: 0n })
    expect(await findingsOf(replica, project.id)).toEqual([])
  })

  test('a key limit as the scarce thing, through two replicas [key_limit]', async ({
    fixture,
    replica,
    other,
    tenant,
  }) => {
    const key = await fixture.key({
      project: tenant.project,
      by: tenant.owners.owner,
      limit: { micro: 777n, reset: 'daily' },
    })
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 ? replica : other)).map((one) =>
        one.admit(one.item(key, tenant.product)),
      ),
    )
    expect(countCodes(outcomes)).toEqual({ admitted: 7, key_limit: 193 })
    const refused = outcomes.find((outcome) => outcome.kind === 'refused')
    expect(refused).toMatchObject({
      facts: { limitMicro: 777, spentMicro: 0, reservedMicro: 700, neededMicro: 100, reset: 'daily' },
    })
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('a refused call consumes nothing: a smaller one behind it fits', async ({ fixture, replica, tenant }) => {
    const project = await fixture.project(tenant.owners, 150n)
    await fixture.assign(project.id, tenant.product)
    const key = await fixture.key({ project, by: tenant.owners.owner })
    const sizes = [100, 100, 50, 1]
    const outcomes = await Promise.all(
      sizes.map((maxTokens) => replica.admit(replica.item(key, tenant.product, { maxTokens }))),
    )
    expect(outcomes.map(codeOf)).toEqual(['admitted', 'insufficient_budget', 'admitted', 'insufficient_budget'])
    expect(outcomes[1]).toMatchObject({
      facts: { availableMicro: 50, reservedMicro: 100, neededMicro: 100, affordableMaxTokens: 50 },
    })
  })
})

describe('closing', () => {
  test('charges the usage, gives back the rest, and once only', async ({ replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    const [first, second] = await Promise.all([
      replica.settle(item.id, { promptTokens: 5, completionTokens: 42 }),
      replica.settle(item.id),
    ])
    expect([first, second]).toEqual([
      { kind: 'settled', chargedMicro: 42 },
      { kind: 'settled', chargedMicro: 42 },
    ])
    expect(await replica.release(item.id)).toEqual({ kind: 'settled', chargedMicro: 42 })
    expect(await wallet(replica, tenant.project.id)).toEqual({ funded: 1_000_000n, reserved: 0n, settled: 42n })
  })

  test('never charges more than was held; the excess is the stack’s', async ({ fixture, replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    expect(await replica.settle(item.id, { promptTokens: 0, completionTokens: 5_000 })).toEqual({
      kind: 'settled',
      chargedMicro: 100,
    })
    const losses = await fixture.run('SELECT kind, micro FROM money.write_offs WHERE reservation = $1', [item.id])
    expect(losses.rows).toEqual([{ kind: 'excess', micro: '4900' }])
  })

  test('a settlement behind a release charges nothing: the stack pays', async ({ fixture, replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    await replica.release(item.id)
    expect(await replica.settle(item.id, { promptTokens: 0, completionTokens: 60 })).toEqual({ kind: 'fenced' })
    const losses = await fixture.run('SELECT kind, micro FROM money.write_offs WHERE reservation = $1', [item.id])
    expect(losses.rows).toEqual([{ kind: 'fenced', micro: '60' }])
    expect((await wallet(replica, tenant.project.id)).settled).toBe(0n)
  })

  test('a release before its admission leaves a tombstone that refuses it', async ({ replica, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    expect(await replica.release(item.id)).toEqual({ kind: 'released' })
    expect(codeOf(await replica.admit(item))).toBe('unavailable')
    expect((await wallet(replica, tenant.project.id)).reserved).toBe(0n)
  })

  test('an admission asked again with its id is the same admission', async ({ replica, other, tenant }) => {
    const item = replica.item(tenant.key, tenant.product)
    const first = await replica.admit(item)
    expect(await other.admit(item)).toEqual(first)
    expect((await wallet(replica, tenant.project.id)).reserved).toBe(100n)
  })

  test('what an instance left is released once the instance has ended, and not before', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const item = replica.item(tenant.key, tenant.product, { instance: 'ins_short' })
    await fixture.run(
      `INSERT INTO money.instances (id, service, started_at, heartbeat_at, dead_after_ms) VALUES ('ins_short', 'gateway', now(), now(), 15000)`,
    )
    await replica.admit(item)
    expect(await replica.expire(item.id)).toEqual({ kind: 'alive' })
    await fixture.run(`UPDATE money.instances SET ended_at = now() WHERE id = 'ins_short'`)
    expect(await replica.expire(item.id)).toEqual({ kind: 'released' })
    expect((await replica.admit(replica.item(tenant.key, tenant.product, { instance: 'ins_short' }))).kind).toBe(
      'instance-unknown',
    )
    expect((await wallet(replica, tenant.project.id)).reserved).toBe(0n)
  })
})

describe('idempotency', () => {
  const keyed = (body = 'a') => ({ key: `idem-${randomBytes(6).toString('hex')}`, fingerprint: body.repeat(64) })

  test('100 copies at once: one is admitted, the others wait for it, and then get its answer', async ({
    replica,
    other,
    tenant,
  }) => {
    const idempotency = keyed()
    const copies = Array.from({ length: 100 }, (_, n) => (n % 2 ? replica : other))
    const outcomes = await Promise.all(
      copies.map((one) => one.admit(one.item(tenant.key, tenant.product, { idempotency }))),
    )
    expect(countCodes(outcomes)).toEqual({ admitted: 1, running: 99 })
    const admitted = outcomes.find((outcome) => outcome.kind === 'admitted')!
    const body = '{"answer":"ü \\u0000"}'
    await replica.settle(
      admitted.invocation,
      { promptTokens: 1, completionTokens: 7 },
      { contentType: 'application/json', body },
    )
    const replays = await Promise.all(
      copies.map((one) => one.admit(one.item(tenant.key, tenant.product, { idempotency }))),
    )
    expect(new Set(replays.map((one) => JSON.stringify(one)))).toEqual(
      new Set([
        JSON.stringify({ kind: 'replay', invocation: admitted.invocation, contentType: 'application/json', body }),
      ]),
    )
    expect(await wallet(replica, tenant.project.id)).toEqual({ funded: 1_000_000n, reserved: 0n, settled: 7n })
  })

  test('another body is refused [idempotency_mismatch]', async ({ replica, tenant }) => {
    const idempotency = keyed()
    await replica.admit(replica.item(tenant.key, tenant.product, { idempotency }))
    const other = { ...idempotency, fingerprint: 'b'.repeat(64) }
    expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product, { idempotency: other })))).toBe(
      'idempotency_mismatch',
    )
  })

  test('a released attempt is tried again under the same invocation id', async ({ replica, tenant }) => {
    const idempotency = keyed()
    const first = replica.item(tenant.key, tenant.product, { idempotency })
    await replica.admit(first)
    await replica.release(first.id)
    const second = await replica.admit(replica.item(tenant.key, tenant.product, { idempotency }))
    expect(second).toMatchObject({ kind: 'admitted', invocation: first.id, attempt: 2 })
  })

  test('another project with the same key string is another call', async ({ fixture, replica, tenant }) => {
    const idempotency = keyed()
    const project = await fixture.project(tenant.owners, 1_000n)
    await fixture.assign(project.id, tenant.product)
    const key = await fixture.key({ project, by: tenant.owners.owner })
    const outcomes = await Promise.all([
      replica.admit(replica.item(tenant.key, tenant.product, { idempotency })),
      replica.admit(replica.item(key, tenant.product, { idempotency })),
    ])
    expect(outcomes.map(codeOf)).toEqual(['admitted', 'admitted'])
  })

  test('an answer is kept as it was sent, whatever is closed before it in the same batch', async ({
    replica,
    tenant,
  }) => {
    const items = Array.from({ length: 4 }, (_, n) =>
      replica.item(tenant.key, tenant.product, n % 2 ? { idempotency: keyed() } : {}),
    )
    for (const item of items) await replica.admit(item)
    const answer = { contentType: 'application/json', body: '{"a":"ü"}' }
    await Promise.all(
      items.map((item) => (item.idempotency ? replica.settle(item.id, undefined, answer) : replica.release(item.id))),
    )
    const replays = await Promise.all(
      items
        .filter(({ idempotency }) => idempotency)
        .map(({ idempotency }) => replica.admit(replica.item(tenant.key, tenant.product, { idempotency }))),
    )
    expect(replays).toMatchObject([answer, answer])
  })

  test('an answer that was not kept says so [answer_not_kept]', async ({ replica, tenant }) => {
    const idempotency = keyed()
    const item = replica.item(tenant.key, tenant.product, { idempotency })
    await replica.admit(item)
    await replica.settle(item.id)
    expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product, { idempotency })))).toBe(
      'answer_not_kept',
    )
  })
})

describe('locks', () => {
  test('facts are those of after the lock: a revocation committed while the batch waits is seen [key_revoked]', async ({
    database,
    fixture,
    replica,
    tenant,
  }) => {
    const holding = new Client({ connectionString: database.adminUrl })
    await holding.connect()
    await holding.query('BEGIN')
    await holding.query('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [tenant.project.id])
    const waiting = replica.admit(replica.item(tenant.key, tenant.product))
    await untilSomebodyWaits(fixture)
    await fixture.run('UPDATE control.keys SET revoked_at = now() WHERE id = $1', [tenant.key.id])
    await holding.query('COMMIT')
    await holding.end()
    expect(codeOf(await waiting)).toBe('key_revoked')
  })

  test('a busy wallet does not stall another project', async ({ database, fixture, replica, tenant }) => {
    const busy = await fixture.project(tenant.owners, 1_000n)
    await fixture.assign(busy.id, tenant.product)
    const busyKey = await fixture.key({ project: busy, by: tenant.owners.owner })
    const holding = new Client({ connectionString: database.adminUrl })
    await holding.connect()
    await holding.query('BEGIN')
    await holding.query('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [busy.id])
    const stuck = replica.admit(replica.item(busyKey, tenant.product))
    const free = replica.admit(replica.item(tenant.key, tenant.product))
    expect(codeOf(await free)).toBe('admitted')
    await holding.query('COMMIT')
    await holding.end()
    expect(codeOf(await stuck)).toBe('admitted')
  })

  test('many wallets from two replicas at once never deadlock, and nothing is set aside', async ({
    fixture,
    replica,
    other,
    tenant,
  }) => {
    const keys = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const project = await fixture.project(tenant.owners, 100_000n)
        await fixture.assign(project.id, tenant.product)
        return fixture.key({ project, by: tenant.owners.owner, limit: { micro: 50_000n, reset: 'lifetime' } })
      }),
    )
    const cycle = async (n: number) => {
      const one = n % 2 ? replica : other
      const item = one.item(keys[(n * 7) % keys.length]!, tenant.product)
      const outcome = await one.admit(item)
      return outcome.kind === 'admitted' ? await one.settle(item.id) : outcome
    }
    const outcomes = await Promise.all(Array.from({ length: 2_000 }, (_, n) => cycle(n)))
    expect(countCodes(outcomes)).toEqual({ settled: 2_000 })
    expect([...replica.setAside, ...other.setAside]).toEqual([])
    for (const key of keys) expect(await findingsOf(replica, key.project!)).toEqual([])
  })
})

describe('admissionBatcher', () => {
  test('past its time an item is dropped undecided, and nothing is held', async ({ database, replica, tenant }) => {
    const { promise: open, resolve: go } = Promise.withResolvers<void>()
    const held =
      (run: RunBatch): RunBatch =>
      async (batch, patient) => (await open, run(batch, patient))
    let nowMs = 0
    const slow = await openReplica(database.ledgerUrl, { around: held, now: () => nowMs })
    const first = slow.admit(slow.item(tenant.key, tenant.product), 100)
    await Promise.resolve() // the first is on its way
    const second = slow.admit(slow.item(tenant.key, tenant.product), 100)
    nowMs = 100
    go()
    expect((await first).kind).toBe('admitted')
    expect(await second).toEqual({ kind: 'undecided', why: 'unavailable' })
    expect((await wallet(replica, tenant.project.id)).reserved).toBe(100n)
    await slow.close()
  })

  test('back-pressure refuses admissions and lets closings through', async ({ database, tenant }) => {
    const { promise: open, resolve: go } = Promise.withResolvers<void>()
    const held =
      (run: RunBatch): RunBatch =>
      async (batch, patient) => (await open, run(batch, patient))
    const small = await openReplica(database.ledgerUrl, {
      limits: { waitingAdmissions: 3, batchItems: 1 },
      around: held,
    })
    const outcomes = Array.from({ length: 10 }, () => small.admit(small.item(tenant.key, tenant.product)))
    await Promise.resolve()
    const releases = Array.from({ length: 10 }, () => small.release(`inv_${randomBytes(8).toString('hex')}`))
    go()
    expect(countCodes(await Promise.all(outcomes))).toMatchObject({ undecided: 7 })
    expect(countCodes(await Promise.all(releases))).toEqual({ released: 10 })
    await small.close()
  })

  test('one poisoned item is set aside, and the rest of its batch is decided', async ({ database, tenant }) => {
    const replica = await openReplica(database.ledgerUrl)
    const good = Array.from({ length: 5 }, () => replica.item(tenant.key, tenant.product))
    const bad = replica.item(tenant.key, tenant.product, { model: 'nul \u0000 byte' })
    const outcomes = await Promise.all([good[0]!, good[1]!, bad, ...good.slice(2)].map((item) => replica.admit(item)))
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      'admitted',
      'admitted',
      'undecided',
      'admitted',
      'admitted',
      'admitted',
    ])
    expect(replica.setAside).toEqual([bad.id])
    await replica.close()
  })

  test('a lost connection is asked again: everything is decided once', async ({ fixture, database, tenant }) => {
    let lost = 0
    const dying =
      (run: RunBatch): RunBatch =>
      async (batch, patient) => {
        const rows = await run(batch, patient)
        // The batch is committed, and its answer never arrives.
        if (batch.admissions.length > 0 && lost++ === 0)
          throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })
        return rows
      }
    const replica = await openReplica(database.ledgerUrl, { around: dying })
    const items = Array.from({ length: 20 }, () => replica.item(tenant.key, tenant.product))
    const outcomes = await Promise.all(items.map((item) => replica.admit(item)))
    expect(countCodes(outcomes)).toEqual({ admitted: 20 })
    const held = await fixture.run('SELECT reserved FROM money.wallets WHERE project = $1', [tenant.project.id])
    expect(held.rows).toEqual([{ reserved: '2000' }])
    await replica.close()
  })

  test('works without prepared statements, as behind PgBouncer', async ({ database, tenant }) => {
    const replica = await openReplica(database.ledgerUrl, { preparedStatements: false })
    expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product)))).toBe('admitted')
    await replica.close()
  })
})

/** Resolves once a session of this database waits for another one's lock. */
async function untilSomebodyWaits(fixture: {
  run: (sql: string) => Promise<{ rowCount: number | null }>
}): Promise<void> {
  for (;;) {
    const waiting = await fixture.run(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    if (waiting.rowCount) return
  }
}
