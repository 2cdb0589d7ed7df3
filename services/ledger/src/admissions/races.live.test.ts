import { describe, expect } from 'vitest'
import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import { openDatabase } from '@gateway/database/client'
import { codeOf, openReplica, type RunBatch } from '../fixtures/replica.ts'
import { findingsOf, test, untilBlocked, walletOf } from '../fixtures/ledger-test.ts'
import { runBatch } from './run-batch.ts'
import { openReceipts } from './receipts.ts'
import type { ClosingItem, Waiting } from './waiting-items.ts'

// The same id in two concurrent batches. A release of an unknown id has no wallet to lock, so the two contend for the
// id itself.

describe('a release that races its own admission', () => {
  test('waits until the admission is committed, then releases it', async ({
    database,
    fixture,
    replica,
    other,
    tenant,
  }) => {
    const idempotency = { key: 'released-while-admitted', fingerprint: 'a'.repeat(64) }
    const item = replica.item(tenant.key, tenant.product, { idempotency })
    const admitting = await decideUncommitted(database.ledgerUrl, { admissions: [waiting(item)], closings: [] })
    expect(admitting.rows.admissions[0]?.code).toBe('admitted')
    const releasing = other.release(item.id)
    await untilBlocked(fixture, releasing)
    await admitting.commit()
    expect(await releasing).toEqual({ kind: 'released' })

    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(await replica.settle(item.id)).toEqual({ kind: 'fenced' })
    expect(await other.release(item.id)).toEqual({ kind: 'released' })
    expect(await replica.expire(item.id)).toEqual({ kind: 'released' })
    const again = await replica.admit(replica.item(tenant.key, tenant.product, { idempotency }))
    expect(again).toMatchObject({ kind: 'admitted', invocation: item.id, attempt: 2 })
    expect([...replica.quarantined, ...other.quarantined]).toEqual([])
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('refuses the admission if the release is written first, and nothing is reserved', async ({
    database,
    fixture,
    replica,
    other,
    tenant,
  }) => {
    const item = replica.item(tenant.key, tenant.product)
    const release: ClosingItem = { op: 'release', id: item.id, reason: 'test' }
    const releasing = await decideUncommitted(database.ledgerUrl, { admissions: [], closings: [waiting(release)] })
    expect(releasing.rows.closings[0]?.outcome).toBe('released')
    const admitting = other.admit(item)
    await untilBlocked(fixture, admitting)
    await releasing.commit()
    expect(codeOf(await admitting)).toBe('unavailable')

    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(await replica.settle(item.id)).toEqual({ kind: 'fenced' })
    expect(await replica.release(item.id)).toEqual({ kind: 'released' })
    expect([...replica.quarantined, ...other.quarantined]).toEqual([])
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('restores nothing if the release is written while the call is restored', async ({
    database,
    fixture,
    replica,
    tenant,
  }) => {
    const { id } = replica.item(tenant.key, tenant.product)
    const receipt = (await openReceipts(replica.reads)).issue(
      {
        id,
        project: tenant.project.id,
        key: tenant.key.id,
        product: tenant.product,
        instance: replica.instance,
        micro: 100,
        outputCap: 100,
        price: ['0', '1000000', '0', null, null, null],
        tag: null,
      },
      Date.now(),
    )
    const release: ClosingItem = { op: 'release', id, reason: 'test' }
    const releasing = await decideUncommitted(database.ledgerUrl, { admissions: [], closings: [waiting(release)] })
    const settling = replica.settle(id, undefined, null, receipt)
    await untilBlocked(fixture, settling)
    await releasing.commit()
    expect(await settling).toMatchObject({ kind: 'undecided' })

    expect(await replica.settle(id, undefined, null, receipt)).toEqual({ kind: 'fenced' })
    expect(await walletOf(replica, tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(replica.quarantined).toEqual([])
    expect(await findingsOf(replica, tenant.project.id)).toEqual([])
  })

  test('leaves nothing reserved under load, on two replicas with two batchers each', async ({ database, tenant }) => {
    const admissionBatcher = { limits: { admissionBatcher: 2, batchItems: 32 } }
    const replicas = [
      await openReplica(database.ledgerUrl, admissionBatcher),
      await openReplica(database.ledgerUrl, admissionBatcher),
    ] as const
    const ends = await Promise.all(
      Array.from({ length: 300 }, async (_, n) => {
        const [one, two] = [replicas[n % 2]!, replicas[(n >> 1) % 2]!]
        const item = one.item(tenant.key, tenant.product)
        const [admission] = await Promise.all([one.admit(item), two.release(item.id)])
        expect(['admitted', 'unavailable']).toContain(codeOf(admission))
        return (await one.release(item.id)).kind
      }),
    )
    expect(new Set(ends)).toEqual(new Set(['released']))
    expect(await walletOf(replicas[0], tenant.project.id)).toMatchObject({ reserved: 0n, settled: 0n })
    expect(await findingsOf(replicas[0], tenant.project.id)).toEqual([])
    for (const { quarantined, close } of replicas) {
      expect(quarantined).toEqual([])
      await close()
    }
  })
})

describe('an admission whose outcome is unknown to one replica', () => {
  test('is not released by that replica, because another one may have admitted it', async ({
    database,
    other,
    tenant,
  }) => {
    let nowMs = 0
    let cut: 'before' | 'never' = 'before'
    const flaky =
      (run: RunBatch): RunBatch =>
      async (database, batch, waitForLocks) => {
        if (cut === 'never') return run(database, batch, waitForLocks)
        nowMs = 1_000 // by the retry its caller has stopped waiting
        throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET' })
      }
    const lost = await openReplica(database.ledgerUrl, { around: flaky, now: () => nowMs })
    const item = lost.item(tenant.key, tenant.product)
    const dropped = lost.admit(item, 1_000)
    expect(codeOf(await other.admit(item))).toBe('admitted')
    expect(await dropped).toEqual({ kind: 'undecided', why: 'unknown' })
    cut = 'never'
    await lost.admissionBatcher.drain()
    // A later batch of that replica: if the replica released the call itself, it would do so here or earlier.
    expect(codeOf(await lost.admit(lost.item(tenant.key, tenant.product)))).toBe('admitted')
    expect(await other.settle(item.id)).toEqual({ kind: 'settled', chargedMicro: 10 })
    await lost.close()
  })
})

/** Decides a batch in a transaction that stays open until `commit`. */
async function decideUncommitted(url: string, batch: Parameters<RunBatch>[1]) {
  const database = await openDatabase({ url, poolSize: 1 })
  const decided = Promise.withResolvers<Awaited<ReturnType<RunBatch>>>()
  const { promise: committing, resolve: letCommit } = Promise.withResolvers<void>()
  const done = database.sql.transaction(async (transaction) => {
    decided.resolve(await runBatch(transaction, batch, false))
    await committing
  })
  done.catch(decided.reject)
  return {
    rows: await decided.promise,
    commit: async () => {
      letCommit()
      await done
      await database.close()
    },
  }
}

function waiting<T extends AdmitItem | ClosingItem>(item: T): Waiting<T> {
  return { item, sinceMs: 0, dropAtMs: Infinity, deferrals: 0, outcomeUnknown: false, answer: () => {} }
}
