import { randomBytes } from 'node:crypto'
import { describe, expect } from 'vitest'
import { invocationRecord } from '@gateway/api/console/money'
import { mintId } from '@gateway/api/ids'
import type { KeyFixture } from '@gateway/testbed/fixture'
import { insertExecution, insertNodes, nodeItem } from '../fixtures/execution-rows.ts'
import { test as base } from '../fixtures/ledger-test.ts'
import { readInvocation } from './read-invocation.ts'

const test = base.extend('read', ({ replica }) => async (key: Pick<KeyFixture, 'hash'>, invocation: string) => {
  const answer = await readInvocation(replica, { keyHash: key.hash, selector: null, invocation })
  return 'record' in answer ? invocationRecord.parse(answer.record) : answer.refused
})

const absent = (invocation: string) => ({ code: 'invocation_not_found', facts: { invocation } })

describe('reading a call', () => {
  test('returns the reservation while it runs, and the charge afterwards', async ({ replica, tenant, read }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    const running = {
      id: item.id,
      key: tenant.key.id,
      model: tenant.product,
      execution: null,
      node: null,
      state: 'Open',
      promptTokens: null,
      completionTokens: null,
      cachedTokens: null,
      cacheWriteTokens: null,
      reasoningTokens: null,
      estimated: false,
      pricing: { unit: 'tokens', prompt: '0', completion: '0.000001' },
      reservedMicro: 100,
      chargedMicro: 0,
      createdAt: expect.any(String),
      closedAt: null,
      durationMs: null,
      reason: null,
      firstTokenMs: null,
      tries: null,
    }
    expect(await read(tenant.key, item.id)).toEqual(running)
    await replica.settle(item.id, { promptTokens: 5, completionTokens: 42, reasoningTokens: 7 })
    const used = { promptTokens: 5, completionTokens: 42, reasoningTokens: 7 }
    const closed = { closedAt: expect.any(String), durationMs: expect.any(Number) }
    expect(await read(tenant.key, item.id)).toEqual({
      ...running,
      ...used,
      ...closed,
      state: 'Settled',
      chargedMicro: 42,
    })
  })

  test('returns its newest attempt, under the id of the first', async ({ replica, tenant, read }) => {
    const idempotency = { key: 'key-0001', fingerprint: '0'.repeat(64) }
    const [first, second] = [1, 2].map(() => replica.item(tenant.key, tenant.product, { idempotency }))
    await replica.admit(first!)
    await replica.release(first!.id)
    expect(await read(tenant.key, first!.id)).toMatchObject({ id: first!.id, state: 'Released', chargedMicro: 0 })
    await replica.admit(second!)
    expect(await read(tenant.key, first!.id)).toMatchObject({ id: first!.id, state: 'Open' })
    await replica.settle(second!.id)
    expect(await read(tenant.key, first!.id)).toMatchObject({ id: first!.id, state: 'Settled', chargedMicro: 10 })
    expect(await read(tenant.key, second!.id)).toEqual(absent(second!.id)) // an attempt is not an invocation
  })

  test('is allowed for every key of the lineage, also for the call of a node', async ({
    fixture,
    replica,
    tenant,
    read,
  }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    const next = await fixture.key({ project: tenant.project, by: tenant.owners.owner })
    await fixture.run('SET session_replication_role = replica') // a key keeps its lineage for life
    await fixture.run('UPDATE control.keys SET lineage = $2 WHERE id = $1', [next.id, tenant.key.id])
    await fixture.run('RESET session_replication_role')
    expect(await read(next, item.id)).toMatchObject({ id: item.id, key: tenant.key.id })
    const project = tenant.project.id
    const execution = await insertExecution(fixture, project, { key: tenant.key.id })
    const [node] = await insertNodes(fixture, { execution, project, count: 1 })
    await replica.admitNode(nodeItem(replica, node!, tenant.product))
    expect(await read(next, node!.call)).toMatchObject({ id: node!.call, execution, node: 'n0', state: 'Open' })
  })
})

describe('a call cannot be read [invocation_not_found]', () => {
  test('with another key of its project, with a key of another project, or if it never existed', async ({
    fixture,
    replica,
    tenant,
    read,
  }) => {
    const neighbour = await fixture.key({ project: tenant.project, by: tenant.owners.owner })
    const other = await fixture.callableTenant()
    const never = mintId('inv', Date.now(), randomBytes(10))
    for (const settles of [false, true]) {
      const item = replica.item(tenant.key, tenant.product)
      await replica.admit(item)
      if (settles) await replica.settle(item.id)
      for (const id of [item.id, never])
        for (const key of [neighbour, other.key]) expect(await read(key, id)).toEqual(absent(id))
    }
    const tombstone = mintId('inv', Date.now(), randomBytes(10))
    await replica.release(tombstone)
    expect(await read(tenant.key, tombstone)).toEqual(absent(tombstone))
  })

  test('if its id is of an archived month, whether or not it existed [invocation_archived]', async ({
    fixture,
    tenant,
    read,
  }) => {
    const id = mintId('inv', Date.UTC(2020, 4, 9), randomBytes(10))
    expect(await read(tenant.key, id)).toEqual(absent(id))
    await fixture.run(
      `INSERT INTO money.archives (month, manifest, folder, entries, attempts, at)
       VALUES ('2020-05-01', sha256(''), 'archive', 0, '{2020-05-01}', now())`,
    )
    expect(await read(tenant.key, id)).toEqual({ code: 'invocation_archived', facts: { month: '2020-05' } })
  })

  test('without a valid key [key_invalid]', async ({ tenant, read }) => {
    expect(await read({ hash: '0'.repeat(64) }, tenant.key.id)).toMatchObject({ code: 'key_invalid' })
  })
})
