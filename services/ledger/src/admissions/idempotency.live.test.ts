import { randomBytes } from 'node:crypto'
import { describe, expect } from 'vitest'
import { codeOf, countCodes } from '../fixtures/replica.ts'
import { test, walletOf } from '../fixtures/ledger-test.ts'

describe('idempotency keys', () => {
  const keyed = (body = 'a') => ({ key: `idem-${randomBytes(6).toString('hex')}`, fingerprint: body.repeat(64) })

  test('admits one of 100 concurrent copies, reports the others as running, and then replays its response to all', async ({
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
    expect(await walletOf(replica, tenant.project.id)).toEqual({ funded: 1_000_000n, reserved: 0n, settled: 7n })
  })

  test('refuses another body under the same key [idempotency_mismatch]', async ({ replica, tenant }) => {
    const idempotency = keyed()
    await replica.admit(replica.item(tenant.key, tenant.product, { idempotency }))
    const other = { ...idempotency, fingerprint: 'b'.repeat(64) }
    expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product, { idempotency: other })))).toBe(
      'idempotency_mismatch',
    )
  })

  test('retries a released attempt under the same invocation id', async ({ replica, tenant }) => {
    const idempotency = keyed()
    const first = replica.item(tenant.key, tenant.product, { idempotency })
    await replica.admit(first)
    await replica.release(first.id)
    const second = await replica.admit(replica.item(tenant.key, tenant.product, { idempotency }))
    expect(second).toMatchObject({ kind: 'admitted', invocation: first.id, attempt: 2 })
  })

  test('replays a saved response byte for byte, regardless of other closings in its batch', async ({
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

  test('refuses to replay a response that was not saved [answer_not_kept]', async ({ replica, tenant }) => {
    const idempotency = keyed()
    const item = replica.item(tenant.key, tenant.product, { idempotency })
    await replica.admit(item)
    await replica.settle(item.id)
    expect(codeOf(await replica.admit(replica.item(tenant.key, tenant.product, { idempotency })))).toBe(
      'answer_not_kept',
    )
  })
})
