import { randomBytes } from 'node:crypto'
import { mintId } from '@gateway/api/ids'
import { flowLimits } from '@gateway/api/limits'
import { describe, expect } from 'vitest'
import { insertExecution } from '../fixtures/execution-rows.ts'
import { openTenant, test } from '../fixtures/ledger-test.ts'
import { admitAsset, deleteAsset, readAsset, recordAsset } from './assets.ts'

const asked = (hash: string) => ({ keyHash: hash, selector: null })

describe('an asset', () => {
  test('is recorded once for the project of its key and not found by other projects [asset_not_found]', async ({
    fixture,
    tenant,
    replica,
  }) => {
    const id = fixture.id('ast')
    const record = { id, caller: asked(tenant.key.hash), mimeType: 'image/png' as const, bytes: 12 }
    for (let n = 0; n < 2; n++)
      expect(await recordAsset(replica, record)).toEqual({ recorded: true, project: tenant.project.id })
    await expect(recordAsset(replica, { ...record, bytes: 13 })).rejects.toThrow(
      'already recorded with different values',
    )

    const own = { asset: { id, project: tenant.project.id, mimeType: 'image/png', bytes: 12 } }
    expect(await readAsset(replica, { caller: asked(tenant.key.hash), asset: id })).toEqual(own)
    expect(await readAsset(replica, { caller: { project: tenant.project.id }, asset: id })).toEqual(own)
    const other = (await openTenant(fixture)).key.hash
    for (const asset of [id, 'ast_never'])
      expect(await readAsset(replica, { caller: asked(other), asset })).toEqual({
        refused: { code: 'asset_not_found', facts: { asset } },
      })
  })

  test('is not found once it is deleted, as if it had never been there [asset_not_found]', async ({
    fixture,
    tenant: { project, key },
    replica,
  }) => {
    const id = fixture.id('ast')
    await recordAsset(replica, { id, caller: asked(key.hash), mimeType: 'image/png', bytes: 12 })
    expect(await deleteAsset(replica, { project: project.id, asset: id })).toEqual({ deleted: true })
    for (const asset of [id, 'ast_never'])
      for (const caller of [asked(key.hash), { project: project.id }])
        expect(await readAsset(replica, { caller, asset })).toEqual({
          refused: { code: 'asset_not_found', facts: { asset } },
        })
  })

  test('answers a repeated deletion as the first one, whose answer may have been lost', async ({
    fixture,
    tenant: { project, key },
    replica,
  }) => {
    const id = fixture.id('ast')
    await recordAsset(replica, { id, caller: asked(key.hash), mimeType: 'image/png', bytes: 12 })
    const remove = async () => {
      expect(await deleteAsset(replica, { project: project.id, asset: id })).toEqual({ deleted: true })
      return (await fixture.run('SELECT deleted_at FROM money.assets WHERE id = $1', [id])).rows
    }
    expect(await remove()).toEqual(await remove())
    expect(await deleteAsset(replica, { project: project.id, asset: 'ast_never' })).toEqual({ deleted: false })
  })

  test('is recorded only for an execution of the same project [execution_not_found, key_invalid]', async ({
    fixture,
    tenant,
    replica,
  }) => {
    const execution = await insertExecution(fixture, tenant.project.id, { user: tenant.owners.owner })
    const record = { id: fixture.id('ast'), mimeType: 'audio/wav' as const, bytes: 9 }
    const other = (await openTenant(fixture)).project.id
    for (const caller of [
      { project: other, execution },
      { project: tenant.project.id, execution: 'exe_never' },
    ])
      expect(await recordAsset(replica, { ...record, caller })).toMatchObject({
        refused: { code: 'execution_not_found' },
      })
    expect(await recordAsset(replica, { ...record, caller: asked('f'.repeat(64)) })).toMatchObject({
      refused: { code: 'key_invalid' },
    })
    const caller = { project: tenant.project.id, execution }
    expect(await recordAsset(replica, { ...record, caller })).toEqual({ recorded: true, project: tenant.project.id })
  })

  test('stays recorded if it is recorded again after its key was revoked [key_revoked]', async ({
    fixture,
    tenant: { project, owners },
    replica,
  }) => {
    const { id: key, hash } = await fixture.key({ project, by: owners.owner })
    const record = { id: fixture.id('ast'), caller: asked(hash), mimeType: 'image/png' as const, bytes: 12 }
    await recordAsset(replica, record)
    await fixture.run('UPDATE control.keys SET revoked_at = now() WHERE id = $1', [key])
    expect(await recordAsset(replica, record)).toEqual({ recorded: true, project: project.id })
    for (const other of [{ id: fixture.id('ast') }, { bytes: 13 }])
      expect(await recordAsset(replica, { ...record, ...other })).toMatchObject({ refused: { code: 'key_revoked' } })
    const another = await fixture.key({ project, by: owners.owner, revoked: true })
    expect(await recordAsset(replica, { ...record, caller: asked(another.hash) })).toMatchObject({
      refused: { code: 'key_revoked' },
    })
  })

  test('is not recorded for the first time once its id is too old, but the repeat of a record is', async ({
    fixture,
    tenant,
    replica,
  }) => {
    const idOfAge = (ageMs: number) => mintId('ast', Date.now() - ageMs, randomBytes(10))
    const record = (id: string) =>
      recordAsset(replica, { id, caller: asked(tenant.key.hash), mimeType: 'image/png', bytes: 12 })
    const late = idOfAge(flowLimits.assetRecordMs + 60_000)
    await expect(record(late)).rejects.toThrow(`asset ${late} is too old to be recorded`)
    expect((await fixture.run('SELECT FROM money.assets WHERE id = $1', [late])).rowCount).toBe(0)
    const inTime = idOfAge(flowLimits.assetRecordMs - 60_000)
    expect(await record(inTime)).toEqual({ recorded: true, project: tenant.project.id })
    await fixture.run(`INSERT INTO money.assets (id, project, mime_type, bytes) VALUES ($1, $2, 'image/png', 12)`, [
      late,
      tenant.project.id,
    ])
    expect(await record(late)).toEqual({ recorded: true, project: tenant.project.id })
  })
})

describe('the quota of stored assets', () => {
  const png = 'image/png' as const

  test('is never exceeded by concurrent uploads, and is free again once assets are removed [quota_reached]', async ({
    fixture,
    tenant,
    replica,
    other,
  }) => {
    const project = tenant.project.id
    const caller = { project, user: tenant.owners.owner }
    await fixture.run(`UPDATE control.projects SET quotas = '{"assetBytes": 50, "assets": 7}' WHERE id = $1`, [project])
    const uploads = Array.from({ length: 12 }, (_, n) => ({
      id: fixture.id('ast'),
      caller,
      mimeType: png,
      bytes: 8 + n,
    }))
    const answers = await Promise.all(uploads.map((upload, n) => recordAsset(n % 2 ? replica : other, upload)))
    const stored = uploads.filter((_, n) => !('refused' in answers[n]!))
    const used = stored.reduce((sum, { bytes }) => sum + bytes, 0)
    expect(stored.length).toBeGreaterThan(1)
    expect(used).toBeLessThanOrEqual(50)
    expect(50 - used).toBeLessThan(19)
    const rows = await fixture.run('SELECT assets::int, bytes::int FROM money.asset_usage WHERE project = $1', [
      project,
    ])
    expect(rows.rows).toEqual([{ assets: stored.length, bytes: used }])

    const reached = { refused: { code: 'quota_reached', facts: { quota: 'assetBytes', limit: 50, used } } }
    expect(await admitAsset(replica, { caller, bytes: 51 - used })).toMatchObject(reached)
    expect(
      await recordAsset(replica, { id: fixture.id('ast'), caller, mimeType: png, bytes: 51 - used }),
    ).toMatchObject(reached)
    expect(await admitAsset(replica, { caller, bytes: 50 - used })).toEqual({ project })
    // A repeat adds nothing.
    expect(await recordAsset(replica, stored[0]!)).toEqual({ recorded: true, project })

    await fixture.run('DELETE FROM money.assets WHERE project = $1', [project])
    expect(await admitAsset(replica, { caller, bytes: 50 })).toEqual({ project })
    expect(await admitAsset({ ...replica, quotas: { assetBytes: 10 } }, { caller, bytes: 50 })).toEqual({ project })
  })

  test('counts an asset of an execution, and keeps it although the quota is reached', async ({
    fixture,
    tenant,
    replica,
  }) => {
    const project = tenant.project.id
    const execution = await insertExecution(fixture, project, { user: tenant.owners.owner })
    const [byUser, byExecution] = [
      { project, user: tenant.owners.owner },
      { project, execution },
    ]
    const few = { ...replica, quotas: { assets: 1 } }
    for (let n = 0; n < 2; n++)
      expect(await recordAsset(few, { id: fixture.id('ast'), caller: byExecution, mimeType: png, bytes: 9 })).toEqual({
        recorded: true,
        project,
      })
    const reached = { refused: { code: 'quota_reached', facts: { quota: 'assets', limit: 1, used: 2 } } }
    expect(await recordAsset(few, { id: fixture.id('ast'), caller: byUser, mimeType: png, bytes: 9 })).toMatchObject(
      reached,
    )
    expect(await admitAsset(few, { caller: byExecution, bytes: null })).toMatchObject(reached)
  })

  test('a project whose wallet is empty stores nothing [insufficient_budget]', async ({ fixture, replica }) => {
    const { project, owners } = await openTenant(fixture, 5n)
    const admit = () => admitAsset(replica, { caller: { project: project.id, user: owners.owner }, bytes: 1 })
    await fixture.run('UPDATE money.wallets SET reserved = 5 WHERE project = $1', [project.id])
    expect(await admit()).toEqual({ project: project.id })
    await fixture.run('UPDATE money.wallets SET reserved = 0, settled = 5 WHERE project = $1', [project.id])
    expect(await admit()).toMatchObject({ refused: { code: 'insufficient_budget', facts: { availableMicro: 0 } } })
    const never = await openTenant(fixture, 0n)
    const caller = { project: never.project.id, user: never.owners.owner }
    expect(await admitAsset(replica, { caller, bytes: 1 })).toMatchObject({ refused: { code: 'insufficient_budget' } })
  })
})
