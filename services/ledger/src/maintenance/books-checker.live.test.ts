import { describe, expect, onTestFinished } from 'vitest'
import { createLogger } from '@gateway/service-kit/process/logger'
import { unmeasured } from '../fixtures/replica.ts'
import { test } from '../fixtures/ledger-test.ts'
import { openBooksChecker, openBooksRechecker } from './books-checker.ts'
import { endTurn, keepTurn, lastReport, takeTurn, turnAges } from './maintenance-turn.ts'

describe('the turn of a maintenance job', () => {
  const turn = { job: 'a job', forMs: 60_000, everyMs: 0 }
  const [mine, yours] = [
    { ...turn, replica: 'mine' },
    { ...turn, replica: 'yours' },
  ]

  test('belongs to one replica until that replica ends it', async ({ replica, other }) => {
    expect(await lastReport(replica, 'a job')).toBeNull()
    expect(await takeTurn(replica, mine)).toBe(true)
    expect(await takeTurn(other, yours)).toBe(false)
    expect(await keepTurn(replica, mine)).toBe(true)
    await endTurn(replica, mine, 'done')
    expect(await lastReport(other, 'a job')).toBe('done')
    expect(await takeTurn(other, yours)).toBe(true)
    expect(await keepTurn(replica, mine)).toBe(false)
    await endTurn(replica, mine, 'too late')
    expect(await lastReport(other, 'a job')).toBe('done')
  })

  test('is lost by a replica that neither ends nor extends it', async ({ replica, other, fixture }) => {
    await takeTurn(replica, { ...mine, job: 'another' })
    await fixture.run(`UPDATE money.maintenance_turns SET until = now() - interval '1 second' WHERE job = 'another'`)
    expect(await takeTurn(other, { ...yours, job: 'another' })).toBe(true)
  })

  test('can be taken again only when the job is due', async ({ replica, other, fixture }) => {
    const due = { job: 'hourly', forMs: 1_000, everyMs: 3_600_000 }
    await takeTurn(replica, { ...due, replica: 'mine' })
    await endTurn(replica, { ...due, replica: 'mine' }, 'done')
    expect(await takeTurn(other, { ...due, replica: 'yours' })).toBe(false)
    await fixture.run(`UPDATE money.maintenance_turns SET done_at = done_at - interval '1 hour' WHERE job = 'hourly'`)
    expect(await takeTurn(other, { ...due, replica: 'yours' })).toBe(true)
  })
})

test('one replica checks the books, and the others report what it found', async ({
  replica,
  other,
  tenant,
  fixture,
}) => {
  const rounds: Record<string, { wallets: number; findings: number }> = {}
  const checker = (name: string, reads: typeof replica.reads) =>
    openBooksChecker(
      {
        reads,
        metrics: { ...unmeasured, checked: (round) => void (rounds[name] = round) },
        log: createLogger({ service: 'ledger', level: 'fatal' }),
        now: () => performance.now(),
        replicaId: name,
      },
      { everyMs: 3_600_000 },
    )
  await replica.admit(replica.item(tenant.key, tenant.product))
  await fixture.run(`UPDATE money.wallets SET settled = settled + 1 WHERE project = $1`, [tenant.project.id])
  onTestFinished(async () => {
    await fixture.run(`UPDATE money.wallets SET settled = settled - 1 WHERE project = $1`, [tenant.project.id])
  })
  expect(await checker('first', replica.reads).runOnce()).toEqual({ findings: 1 })
  expect(await checker('second', other.reads).runOnce()).toEqual({ findings: 0 })
  expect(rounds['second']).toEqual(rounds['first'])
  expect(rounds['first']?.findings).toBe(1)
})

test('a wallet that cannot be read hides no finding of others, and the round counts as failed', async ({
  replica,
  other,
  tenant,
  fixture,
}) => {
  const item = replica.item(tenant.key, tenant.product)
  await replica.admit(item)
  await replica.settle(item.id, { promptTokens: 0, completionTokens: 30 })
  const unreadable = tenant.project.id
  const { id: wrong } = await fixture.project(tenant.owners, 1n)
  await fixture.run('DELETE FROM money.checked_wallets')
  await fixture.run('DELETE FROM money.maintenance_turns')
  onTestFinished(async () => {
    await setStart(start)
    await fixture.run('UPDATE money.wallets SET settled = 0 WHERE project = $1', [wrong])
  })
  const setStart = async (start: string | null) => {
    await fixture.run('SET session_replication_role = replica')
    await fixture.run('UPDATE money.attempts SET window_start = $2 WHERE id = $1', [item.id, start])
    await fixture.run('SET session_replication_role = origin')
  }
  const { rows } = await fixture.run('SELECT window_start::text AS start FROM money.attempts WHERE id = $1', [item.id])
  const [{ start }] = rows as [{ start: string | null }]
  await setStart('20000-01-01') // JavaScript cannot parse a date of this form
  await fixture.run('UPDATE money.wallets SET settled = settled + 1 WHERE project = $1', [wrong])

  const found: Record<string, number[]> = { first: [], second: [] }
  const lines: string[] = []
  const checker = (name: string, reads: typeof replica.reads) =>
    openBooksChecker(
      {
        reads,
        metrics: { ...unmeasured, checked: ({ findings }) => void found[name]!.push(findings) },
        log: createLogger({ service: 'ledger', level: 'error', to: { write: (line) => void lines.push(line) } }),
        now: () => performance.now(),
        replicaId: name,
      },
      { everyMs: 3_600_000 },
    )
  const [first, second] = [checker('first', replica.reads), checker('second', other.reads)]
  const failed = expect.objectContaining({
    errors: [expect.objectContaining({ message: `check of ${unreadable} failed` })],
  }) as Error
  await expect(first.runOnce()).rejects.toThrow(failed)
  expect(lines.join('')).toContain(`${wrong}: wallet ${wrong}: settled differs from the journal`)
  expect(found['first']).toEqual([1])
  // The turn is due again at once, and no round without a finding is reported as clean.
  await fixture.run('UPDATE money.wallets SET settled = settled - 1 WHERE project = $1', [wrong])
  await expect(second.runOnce()).rejects.toThrow(failed)
  expect(found['second']).toEqual([1]) // still what the last round found
  await takeTurn(replica, { job: 'books-check', replica: 'third', forMs: 60_000, everyMs: 0 })
  await second.runOnce()
  expect(found['second']).toEqual([1, 1]) // not its turn: the same
  await endTurn(replica, { job: 'books-check', replica: 'third', forMs: 60_000, everyMs: 0 }, null)
  await setStart(start)
  expect(await second.runOnce()).toEqual({ findings: 0 })
  expect(found['second']).toEqual([1, 1, 0])
  await first.runOnce()
  expect(found['first']).toEqual([1, 0])
})

test('a wallet that cannot be read delays neither the recheck of others nor the anchor', async ({
  replica,
  tenant,
  fixture,
}) => {
  const broken = tenant.project.id
  await fixture.run('DELETE FROM money.rechecked_wallets')
  await replica.admit(replica.item(tenant.key, tenant.product))
  await fixture.project(tenant.owners, 1n)
  // The sum of these amounts exceeds a bigint, so reading the wallet's usage fails.
  const addTooMuch = `
    INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
    SELECT $1, 1000 + n, 'settle', 'too much', 0, 0, 9e18, -9e18, now() FROM generate_series(1, 2) n`
  await fixture.run(addTooMuch, [broken])
  onTestFinished(async () => {
    await fixture.run('SET session_replication_role = replica')
    await fixture.run(`DELETE FROM money.journal WHERE project = $1 AND reference = 'too much'`, [broken])
    await fixture.run('SET session_replication_role = origin')
  })
  const log = createLogger({ service: 'ledger', level: 'fatal' })
  const reported: number[] = []
  const metrics = { ...unmeasured, rechecked: (findings: number) => void reported.push(findings) }
  const rechecker = openBooksRechecker({ reads: replica.reads, metrics, log, newId: () => 'rep_test' }, { everyMs: 0 })
  const fails = () =>
    expect(rechecker.runOnce()).rejects.toThrow(
      expect.objectContaining({ errors: [expect.objectContaining({ message: `recheck of ${broken} failed` })] }),
    )
  await fails()
  expect(reported).toHaveLength(1)
  expect((await turnAges(replica)).has('books-recheck')).toBe(false) // a failed round is not done
  const { rows } = await fixture.run(
    `SELECT count(*)::int AS wallets, count(r.at)::int AS rechecked, (SELECT count(*)::int FROM money.anchors) AS anchors
       FROM money.wallets w LEFT JOIN money.rechecked_wallets r ON r.project = w.project WHERE w.journal_seq > 0`,
  )
  const [{ wallets, rechecked, anchors }] = rows as [{ wallets: number; rechecked: number; anchors: number }]
  expect({ rechecked, anchors }).toEqual({ rechecked: wallets, anchors: 1 })
  // A finding is not forgotten because the wallet cannot be read.
  await fixture.run('UPDATE money.rechecked_wallets SET findings = 2 WHERE project = $1', [broken])
  await fails()
  const kept = await fixture.run('SELECT findings FROM money.rechecked_wallets WHERE project = $1', [broken])
  expect(kept.rows).toEqual([{ findings: 2 }])
  expect(reported.at(-1)).toBe(2)
})
