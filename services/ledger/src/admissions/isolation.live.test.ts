import { Client } from 'pg'
import { describe, expect, onTestFinished } from 'vitest'
import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import { codeOf, countCodes, openReplica, type RunBatch } from '../fixtures/replica.ts'
import { findingsOf, openTenant, test, walletOf } from '../fixtures/ledger-test.ts'

// A faulty item affects only itself, and a project that waits for a lock delays no other project.

describe('a decided row that cannot be turned into an outcome', () => {
  test('is quarantined alone, its batch is not repeated, and its reservation can be released', async ({
    database,
    fixture,
    tenant,
  }) => {
    let batches = 0
    const spoil =
      (run: RunBatch): RunBatch =>
      async (database, batch, waitForLocks) => {
        const rows = await run(database, batch, waitForLocks)
        batches++
        // Not a list, contrary to its type: sorting it throws.
        return { ...rows, products: { ...rows.products, [tenant.product]: { providers: {} as never, supported: [] } } }
      }
    const replica = await openReplica(database.ledgerUrl, { around: spoil })
    const right = await fixture.product({ promptPico: 0n, completionPico: 1_000_000n })
    await fixture.assign(tenant.project.id, right)
    const items = [right, right, tenant.product, right].map((model) => replica.item(tenant.key, model))
    const bad = items[2]!
    const outcomes = await Promise.all(items.map((item) => replica.admit(item)))
    expect(outcomes.map(codeOf)).toEqual(['admitted', 'admitted', 'undecided', 'admitted'])
    expect(outcomes[2]).toEqual({ kind: 'undecided', why: 'unknown' }) // it was written: its caller releases it
    expect(replica.quarantined).toEqual([bad.id])
    expect(batches).toBe(1)

    expect(await replica.release(bad.id)).toEqual({ kind: 'released' })
    expect((await walletOf(replica, tenant.project.id)).reserved).toBe(300n)
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
    await replica.close()
  })
})

describe('a wallet that another session keeps locked', () => {
  test('does not delay other projects, and its own items are decided once it is unlocked', async ({
    database,
    fixture,
    tenant,
  }) => {
    const seen = { batches: 0, waitForLocks: 0 }
    const counting =
      (run: RunBatch): RunBatch =>
      (database, batch, waitForLocks) => {
        seen.batches++
        if (waitForLocks) seen.waitForLocks++
        return run(database, batch, waitForLocks)
      }
    const replica = await openReplica(database.ledgerUrl, { around: counting })
    const busy = await openTenant(fixture)
    const held = replica.item(busy.key, busy.product)
    await replica.admit(held)
    const job = new Client({ connectionString: database.adminUrl })
    await job.connect()
    onTestFinished(() => job.end())
    await job.query('BEGIN')
    await job.query('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [busy.project.id])

    const settling = replica.settle(held.id)
    const admitting = replica.admit(replica.item(busy.key, busy.product), 60_000)
    // Far more batches than deferrals before a batch waits for locks; each is decided while the wallet stays locked.
    for (let n = 0; n < 80; n++)
      expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product)))).toBe('admitted')
    expect(seen.waitForLocks).toBeGreaterThanOrEqual(1)
    expect(seen.waitForLocks * 10).toBeLessThan(seen.batches)

    await job.query('COMMIT')
    expect(await settling).toEqual({ kind: 'settled', chargedMicro: 10 })
    expect(codeOf(await admitting)).toBe('admitted')
    expect(replica.quarantined).toEqual([])
    await replica.close()
  })
})

describe('prompt sizes at the largest values an item allows [context_limit]', () => {
  /** The most expensive product that the tables allow, with the largest context. */
  const dear = {
    promptPico: 100_000_000_000n,
    completionPico: 100_000_000_000n,
    contextLength: 10_000_000,
    maxOutputTokens: 10_000_000,
    tokensPerByteMillionths: 1_000_000,
    perMessage: 10_000,
    perTool: 10_000,
    fixedWithTools: 100_000,
    maxTokensPerImage: 100_000,
  }
  const most = { bytes: 4_000_000, messages: 1_000, tools: 1_000, images: 10_000, counted: 10_000_000 }
  const extremes: [what: string, promptSize: Partial<AdmitItem['promptSize']>][] = [
    ['all values', { ...most, maxTokens: 10_000_000 }],
    ['bytes', { bytes: most.bytes, messages: most.messages, counted: null, maxTokens: 10_000_000 }],
    ['images', { images: most.images, maxTokens: 100 }],
    ['tools', { tools: most.tools, maxTokens: null }],
    ['an exact count', { counted: most.counted, maxTokens: 1 }],
  ]
  for (const [what, promptSize] of extremes) {
    test(`are refused while the rest of the batch is decided: ${what}`, async ({ fixture, replica, tenant }) => {
      const product = await fixture.product(dear)
      await fixture.assign(tenant.project.id, product)
      const item = replica.item(tenant.key, product)
      const extreme = { ...item, promptSize: { ...item.promptSize, ...promptSize } }
      const good = Array.from({ length: 20 }, () => replica.item(tenant.key, tenant.product))
      const outcomes = await Promise.all([extreme, ...good].map((one) => replica.admit(one)))
      expect(codeOf(outcomes[0]!)).toBe('context_limit')
      expect(countCodes(outcomes.slice(1))).toEqual({ admitted: 20 })
      expect(replica.quarantined).toEqual([])
    })
  }

  test('are reserved to the micro-USD if they fit, and never charged more than that', async ({
    fixture,
    replica,
    tenant,
  }) => {
    const project = await fixture.project(tenant.owners, 9_000_000_000_000n)
    const product = await fixture.product({ ...dear, perMessage: 0 })
    await fixture.assign(project.id, product)
    const key = await fixture.key({ project, by: tenant.owners.owner })
    const item = replica.item(key, product)
    const widest = { ...item, promptSize: { ...item.promptSize, counted: 5_000_000, maxTokens: 5_000_000 } }
    expect(await replica.admit(widest)).toMatchObject({ kind: 'admitted', reservedMicro: 1_000_000_000_000 })
    expect(await replica.settle(item.id, { promptTokens: 10_000_000, completionTokens: 10_000_000 })).toEqual({
      kind: 'settled',
      chargedMicro: 1_000_000_000_000,
    })
    expect(await findingsOf(replica, project.id)).toEqual([])
  })
})
