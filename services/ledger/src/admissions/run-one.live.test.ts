import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Client, TypeOverrides, types } from 'pg'
import type { Sql } from '@gateway/database/client'
import { describe, expect } from 'vitest'
import type { KeyFixture } from '@gateway/testbed/fixture'
import { findingsOf, openTenant, test as ledgerTest, walletOf } from '../fixtures/ledger-test.ts'
import type { AdmissionItem, ClosingItem, Waiting } from './waiting-items.ts'
import { runBatch } from './run-batch.ts'

// Which small batches money.run_one decides by itself. That it decides them as money.run_batch does is shown by the random
// histories (services/ledger/oracle).

const root = path.resolve(import.meta.dirname, '../../../..')

/** A session in whose transactions money.run_batch refuses to run. */
const test = ledgerTest.extend('session', { scope: 'file' }, async ({ database }, { onCleanup }) => {
  const bigints = new TypeOverrides()
  bigints.setTypeParser(types.builtins.INT8, BigInt)
  const client = new Client({ connectionString: database.adminUrl, types: bigints })
  await client.connect()
  onCleanup(() => client.end())
  const text = await readFile(path.join(root, 'prisma/functions/money/run_batch.sql'), 'utf8')
  const signature = text.slice(text.indexOf('CREATE'), text.indexOf('AS $$'))
  const sql: Sql = { query: async (text, values = []) => (await client.query(text, [...values])).rows }

  /** Decides a small batch. Returns its codes and outcomes, or `left` if run_one leaves it to run_batch. */
  async function decide(admission: AdmissionItem | null, closing: ClosingItem | null): Promise<string[] | 'left'> {
    await client.query('BEGIN')
    await client.query(`${signature} AS $$ BEGIN RAISE 'left to run_batch'; END $$`)
    try {
      const batch = {
        admissions: [admission].filter((item) => item !== null),
        closings: [closing].filter((item) => item !== null),
      }
      const rows = await runBatch(
        sql,
        { admissions: batch.admissions.map(waiting), closings: batch.closings.map(waiting) },
        false,
      )
      return [...rows.closings.map(({ outcome }) => outcome), ...rows.admissions.map(({ code }) => code)]
    } catch (error) {
      if ((error as Error).message === 'left to run_batch') return 'left'
      throw error
    } finally {
      await client.query('ROLLBACK')
    }
  }
  return { decide }
})

describe('money.run_one', () => {
  test('decides what goes well without money.run_batch', async ({ session, replica, fixture, tenant }) => {
    const { product, key, project, owners } = tenant
    const limited = await fixture.key({ project, by: owners.owner, limit: { micro: 5_000n, reset: 'daily' } })
    const listed = await fixture.key({ project, by: owners.owner, policy: 'listed', resources: [product] })
    const idempotency = { key: 'a key', fingerprint: 'ab'.repeat(32) }
    const of = (one: KeyFixture, more = {}) => replica.item(one, product, more)
    for (const item of [of(key), of(limited), of(listed), of(key, { idempotency, selector: project.id })])
      expect(await session.decide(item, null)).toEqual(['admitted'])

    const held = [of(key), of(limited)]
    for (const item of held) await replica.admit(item)
    for (const { id } of held) {
      expect(await session.decide(null, settled(id))).toEqual(['settled'])
      expect(await session.decide(null, { op: 'release', id, reason: 'test' })).toEqual(['released'])
    }
    expect(await session.decide(of(limited), settled(held[0]!.id))).toEqual(['settled', 'admitted'])
  })

  test('leaves what needs a refusal, a notice, a write-off or an earlier call to money.run_batch', async ({
    session,
    replica,
    fixture,
    tenant,
  }) => {
    const { product, key, project, owners } = tenant
    const item = () => replica.item(key, product)
    const idempotency = { key: 'another key', fingerprint: 'ab'.repeat(32) }
    const held = replica.item(key, product, { idempotency })
    await replica.admit(held)
    const limited = await fixture.key({ project, by: owners.owner, limit: { micro: 99n, reset: 'daily' } })
    const reserving = await fixture.key({ project, by: owners.owner, limit: { micro: 199n, reset: 'daily' } })
    await replica.admit(replica.item(reserving, product))
    const elsewhere = await fixture.key({ project, by: owners.owner, policy: 'listed', resources: ['sbx-other'] })
    const poor = await openTenant(fixture, 99n)
    const admissions: AdmissionItem[] = [
      { ...item(), keyHash: '00'.repeat(32) },
      { ...item(), model: 'no/model' },
      replica.item(elsewhere, product), // not on its list
      replica.item(reserving, product), // its first call reserves what this one needs
      { ...item(), selector: 'another project' },
      { ...item(), parameters: ['logprobs', 'unheard_of'] },
      { ...item(), instance: 'ins_unknown' },
      { ...item(), instance: null },
      { ...item(), id: held.id },
      { ...item(), idempotency },
      replica.item(key, product, { maxTokens: 1_000_000_000 }),
      replica.item(limited, product),
      replica.item(poor.key, poor.product),
    ]
    for (const admission of admissions) expect(await session.decide(admission, null)).toBe('left')

    const late = { promptTokens: 0, completionTokens: 101, estimated: false } // above what it reserved
    const closings: ClosingItem[] = [
      { op: 'settle', id: held.id, usage: late, answer: null },
      { op: 'settle', id: item().id, usage: late, answer: null },
      { op: 'release', id: item().id, reason: 'test' },
      { op: 'expire', id: held.id },
    ]
    for (const closing of closings) expect(await session.decide(null, closing)).toBe('left')
    await fixture.run(`UPDATE money.wallets SET notice_below = '{999995}' WHERE project = $1`, [project.id])
    expect(await session.decide(null, settled(held.id))).toBe('left')
  })

  test('leaves a wallet that another session has locked, and neither waits for it nor writes anything', async ({
    replica,
    other,
    tenant,
  }) => {
    const { product, key, project } = tenant
    const held = replica.item(key, product)
    await replica.admit(held)
    const before = await walletOf(replica, project.id)
    await other.reads.sql.transaction(async (sql) => {
      await sql.query('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [project.id])
      const batch = { admissions: [waiting(replica.item(key, product))], closings: [waiting(settled(held.id))] }
      const { admissions, closings } = await runBatch(replica.reads.sql, batch, false)
      expect([admissions[0]!.code, closings[0]!.outcome]).toEqual(['deferred', 'deferred'])
    })
    expect(await walletOf(replica, project.id)).toEqual(before)
    expect(await findingsOf(replica, project.id)).toEqual([])
  })
})

function settled(id: string): ClosingItem {
  return { op: 'settle', id, usage: { promptTokens: 0, completionTokens: 10, estimated: false }, answer: null }
}

function waiting<T extends AdmissionItem | ClosingItem>(item: T): Waiting<T> {
  return { item, sinceMs: 0, dropAtMs: Infinity, deferrals: 0, outcomeUnknown: false, answer: () => {} }
}
