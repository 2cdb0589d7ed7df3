import { describe, expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { openFixture } from '@gateway/testbed/fixture'
import { openReplica } from '../fixtures/replica.ts'
import { correct } from '../wallets/wallets.ts'
import { checkBooks, formatFinding } from './check-books.ts'
import { readStart, saveCheckpoint } from './checkpoint.ts'

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
  /** A project with one settled, one released and two open calls, under a key with a limit. */
  .extend('books', async ({ fixture, replica }) => {
    const owners = await fixture.tenant()
    const project = await fixture.project(owners, 10_000n)
    const product = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n })
    await fixture.assign(project.id, product)
    const key = await fixture.key({ project, by: owners.owner, limit: { micro: 5_000n, reset: 'monthly' } })
    const [settled, released, ...open] = [1, 2, 3, 4].map(() => replica.item(key, product))
    for (const item of [settled!, released!, ...open]) await replica.admit(item)
    await replica.settle(settled!.id, { promptTokens: 0, completionTokens: 30 })
    await replica.release(released!.id)
    const correction = { project: project.id, correctionId: 'c', micro: -7, reason: 'a test', correctedBy: 'usr_test' }
    await correct(replica, correction)
    return { project: project.id, key, product, settled: settled!.id }
  })

describe('ledger check', () => {
  test('finds nothing in correct books, from the first entry or from the last checkpoint', async ({
    replica,
    books,
  }) => {
    const check = async (whole: boolean) =>
      (await checkBooks(replica.reads, { projects: [books.project], whole })).findings
    expect(await check(false)).toEqual([])
    await replica.admit(replica.item(books.key, books.product))
    expect(await check(false)).toEqual([])
    expect(await check(true)).toEqual([])
  })

  test('does not remember a block that Postgres has lost since it was read', async ({ replica, books }) => {
    const { prisma } = replica.reads
    await checkBooks(replica.reads, { projects: [books.project] })
    const { at, from } = await readStart(prisma, books.project, false)
    const lost = { ...at, seq: at.seq + 1n, seal: Buffer.alloc(32, 1) }
    await saveCheckpoint(prisma, books.project, { from, to: lost, spent: new Map(), findings: [] })
    expect((await readStart(prisma, books.project, false)).at).toEqual(at)
  })

  const says = async (replica: Awaited<ReturnType<typeof openReplica>>, project: string) =>
    (await checkBooks(replica.reads, { projects: [project] })).findings.map(formatFinding).join('\n')

  /** Changes by a superuser who bypasses every trigger. */
  const tamperings: [what: string, sql: string, saying: RegExp][] = [
    [
      'a settled balance',
      'UPDATE money.wallets SET settled = settled + 1 WHERE project = $1',
      /settled differs from the journal: expected 30, found 31/,
    ],
    [
      'a funded balance',
      'UPDATE money.wallets SET funded = funded + 1 WHERE project = $1',
      /funded differs from the journal: expected 9993, found 9994/,
    ],
    [
      'a deleted reservation',
      'DELETE FROM money.reservations WHERE project = $1',
      /reserved differs from the open reservations: expected 0, found 200/,
    ],
    [
      'micro-USD moved from one reservation to another',
      `UPDATE money.reservations SET micro = micro + CASE id WHEN (SELECT min(id) FROM money.reservations WHERE project = $1) THEN 50 ELSE -50 END
        WHERE project = $1`,
      /the reserved amount differs from the reservation: expected 100, found 50/,
    ],
    [
      'a reservation under another id',
      `UPDATE money.reservations SET id = 'another' WHERE id = (SELECT min(id) FROM money.reservations WHERE project = $1)`,
      /the reserved amount differs from the reservation: expected 100, found 0/,
    ],
    [
      'a deleted meter',
      'DELETE FROM money.meters WHERE project = $1',
      /the meter of this window is missing: expected 30, found 0/,
    ],
    [
      'a meter moved to a past window',
      `UPDATE money.meters SET window_start = '2020-01-01', spent = 0, reserved = 0 WHERE project = $1`,
      /the meter of this window is missing: expected 30, found 0/,
    ],
    [
      'a meter',
      'UPDATE money.meters SET spent = spent - 1 WHERE project = $1',
      /spent differs from the journal: expected 30, found 29/,
    ],
    [
      'a usage record',
      'UPDATE money.attempts SET charged_micro = 29 WHERE project = $1 AND charged_micro = 30',
      /the usage record has a different charge: expected 30, found 29/,
    ],
    [
      'a funding record',
      'UPDATE money.fundings SET micro = micro + 1 WHERE project = $1',
      /the funding record differs from the entry: expected 10000, found 10001/,
    ],
    [
      'a correction record',
      'UPDATE money.corrections SET micro = micro + 1 WHERE project = $1',
      /the correction record differs from the entry: expected -7, found -6/,
    ],
    [
      'a missing correction record',
      'DELETE FROM money.corrections WHERE project = $1',
      /the correction record differs from the entry: expected -7, found 0/,
    ],
    [
      'the reference of an entry',
      `UPDATE money.journal SET reference = 'other' WHERE project = $1 AND kind = 'reserve' AND seq = 2`,
      /the seal does not match/,
    ],
    [
      'the amounts of an entry',
      `UPDATE money.journal SET reserved = reserved + 1, available = available - 1 WHERE project = $1 AND seq = 2`,
      /the seal does not match/,
    ],
    [
      'a missing entry',
      'DELETE FROM money.journal WHERE project = $1 AND seq = 2',
      /entries are missing before this one/,
    ],
    [
      'a truncated journal',
      'DELETE FROM money.journal WHERE project = $1 AND seq = (SELECT max(seq) FROM money.journal WHERE project = $1)',
      /the journal has fewer entries than the wallet records/,
    ],
  ]
  for (const [what, sql, saying] of tamperings) {
    test(`reports the wrong amount after tampering with ${what}`, async ({ fixture, replica, books }) => {
      await fixture.run(`SET session_replication_role = replica`)
      await fixture.run(sql, [books.project])
      await fixture.run(`SET session_replication_role = origin`)
      expect(await says(replica, books.project)).toMatch(saying)
    })
  }

  test('reports a missing meter whose window has only open reservations', async ({ fixture, replica }) => {
    const owners = await fixture.tenant()
    const project = await fixture.project(owners, 10_000n)
    const product = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n })
    await fixture.assign(project.id, product)
    const key = await fixture.key({ project, by: owners.owner, limit: { micro: 5_000n, reset: 'monthly' } })
    await replica.admit(replica.item(key, product))
    await fixture.run('DELETE FROM money.meters WHERE project = $1', [project.id])
    expect(await says(replica, project.id)).toMatch(/the meter of this window is missing: expected 100, found 0/)
  })

  test('keeps reporting a wrong entry without folding it again, until the entry is repaired', async ({
    fixture,
    replica,
    books,
  }) => {
    const around = async (sql: string) => {
      await fixture.run(`SET session_replication_role = replica`)
      await fixture.run(sql, [books.project])
      await fixture.run(`SET session_replication_role = origin`)
    }
    const checkpoint = async () =>
      (await fixture.run('SELECT seq::int, findings FROM money.checked_wallets WHERE project = $1', [books.project]))
        .rows[0] as { seq: number; findings: string }
    await around(`UPDATE money.journal SET reference = reference || '!' WHERE project = $1 AND seq = 2`)
    expect(await says(replica, books.project)).toMatch(/the seal does not match/)
    const { seq } = await checkpoint()
    await replica.admit(replica.item(books.key, books.product))
    expect(await says(replica, books.project)).toMatch(/the seal does not match/)
    expect((await checkpoint()).seq).toBe(seq + 1)
    expect((await checkBooks(replica.reads)).findings.map(formatFinding).join()).toMatch(/the seal does not match/)
    await around(`UPDATE money.journal SET reference = rtrim(reference, '!') WHERE project = $1 AND seq = 2`)
    expect(await says(replica, books.project)).toBe('')
    expect(await checkpoint()).toEqual({ seq: seq + 1, findings: '[]' })
    expect(await says(replica, books.project)).toBe('')
  })

  test('keeps reporting a missing entry in rounds in which no wallet moved', async ({ fixture, replica, books }) => {
    await fixture.run(`SET session_replication_role = replica`)
    await fixture.run(`DELETE FROM money.journal WHERE project = $1 AND seq = 3`, [books.project])
    await fixture.run(`SET session_replication_role = origin`)
    for (const _ of [1, 2]) {
      const { findings } = await checkBooks(replica.reads)
      expect(findings.map(formatFinding).join('\n')).toMatch(/entries are missing before this one/)
    }
  })

  test('forgets a spending window that no meter has anymore', async ({ fixture, replica, books }) => {
    expect(await says(replica, books.project)).toBe('')
    await fixture.run(
      `INSERT INTO money.checked_meters SELECT project, lineage, window_start - interval '1 month', 5
         FROM money.checked_meters WHERE project = $1`,
      [books.project],
    )
    await replica.admit(replica.item(books.key, books.product))
    expect(await says(replica, books.project)).toBe('')
    const { rows } = await fixture.run('SELECT spent::int FROM money.checked_meters WHERE project = $1', [
      books.project,
    ])
    expect(rows).toEqual([{ spent: 30 }])
  })

  test('finds a wrong meter of a wallet that has not moved when its hourly check is due', async ({
    fixture,
    replica,
    books,
  }) => {
    expect(await says(replica, books.project)).toBe('')
    await fixture.run(`UPDATE money.meters SET spent = spent - 1 WHERE project = $1`, [books.project])
    const found = async () =>
      (await checkBooks(replica.reads)).findings
        .filter(({ project }) => project === books.project)
        .map(formatFinding)
        .join('\n')
    expect(await found()).not.toMatch(/spent differs/)
    await fixture.run(
      `UPDATE money.checked_wallets SET checked_at = checked_at - interval '2 hours' WHERE project = $1`,
      [books.project],
    )
    expect(await found()).toMatch(/spent differs from the journal: expected 30, found 29/)
    expect(await found()).toMatch(/spent differs from the journal: expected 30, found 29/)
    await fixture.run(`UPDATE money.meters SET spent = spent + 1 WHERE project = $1`, [books.project])
    expect(await found()).not.toMatch(/spent differs/)
  })

  test('runs during concurrent admissions without false findings', async ({ database, fixture, replica }) => {
    const owners = await fixture.tenant()
    const project = await fixture.project(owners, 100_000_000n)
    const product = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n })
    await fixture.assign(project.id, product)
    const key = await fixture.key({ project, by: owners.owner, limit: { micro: 90_000_000n, reset: 'weekly' } })
    const checker = await openReplica(database.ledgerUrl)
    let busy = true
    const work = Promise.all(
      Array.from({ length: 40 }, async () => {
        for (let n = 0; n < 50; n++) {
          const item = replica.item(key, product)
          await replica.admit(item)
          await replica.settle(item.id, { promptTokens: 0, completionTokens: n })
        }
      }),
    ).finally(() => (busy = false))
    const found: string[] = []
    while (busy) {
      const reports = await Promise.all([
        checkBooks(replica.reads, { projects: [project.id] }),
        checkBooks(checker.reads, { projects: [project.id] }),
      ])
      found.push(...reports.flatMap(({ findings }) => findings.map(formatFinding)))
    }
    await work
    await checker.close()
    expect(found).toEqual([])
  })
})
