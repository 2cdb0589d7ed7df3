import { expect } from 'vitest'
import {
  deleteAsset,
  forgetAssets,
  listAssetsToRemove,
  readAsset,
  readAttachments,
  recordAsset,
} from '../assets/assets.ts'
import { expireAssets } from './retention-cleaner.ts'
import { openTenant, test } from '../fixtures/ledger-test.ts'

test('only assets older than their project’s retention are deleted, once even if two replicas delete concurrently', async ({
  fixture,
  tenant,
  replica,
}) => {
  const other = await openTenant(fixture)
  const asset = async (project: string, days: number) => {
    const id = fixture.id('ast')
    await recordAsset(replica, { id, caller: { project, user: 'usr_1' }, mimeType: 'image/png', bytes: 9 })
    await fixture.run(`UPDATE money.assets SET created_at = now() - $2 * interval '1 day' WHERE id = $1`, [id, days])
    return id
  }
  const [old, young] = [await asset(tenant.project.id, 8), await asset(tenant.project.id, 6)]
  const kept = await asset(other.project.id, 900)
  const retain = 'UPDATE control.projects SET asset_retention_days = $2 WHERE id = $1'
  await fixture.run(retain, [tenant.project.id, 7])
  await fixture.run(retain, [other.project.id, null])
  const counts = await Promise.all([expireAssets(replica), expireAssets(replica)])
  expect(counts.reduce((sum, { expired }) => sum + expired, 0)).toBe(1)
  expect(await expireAssets(replica)).toEqual({ expired: 0 })
  const state = async (id: string, project: string) =>
    'asset' in (await readAsset(replica, { caller: { project }, asset: id }))
  expect(await state(old, tenant.project.id)).toBe(false)
  expect(await state(young, tenant.project.id)).toBe(true)
  expect(await state(kept, other.project.id)).toBe(true)
})

test('all assets of a deleted project are deleted, even of one that kept them forever', async ({
  fixture,
  tenant,
  replica,
}) => {
  const deleted = await fixture.project(tenant.owners)
  await fixture.run('UPDATE control.projects SET asset_retention_days = NULL WHERE id = $1', [deleted.id])
  const asset = async (project: string) => {
    const id = fixture.id('ast')
    await recordAsset(replica, { id, caller: { project, user: 'usr_1' }, mimeType: 'image/png', bytes: 9 })
    return id
  }
  const [gone, kept] = [await asset(deleted.id), await asset(tenant.project.id)]
  await fixture.run('DELETE FROM control.project_grants WHERE project = $1', [deleted.id])
  await fixture.run('DELETE FROM control.projects WHERE id = $1', [deleted.id])
  expect(await expireAssets(replica)).toEqual({ expired: 1 })
  expect(await expireAssets(replica)).toEqual({ expired: 0 })
  const { rows } = await fixture.run('SELECT id FROM money.assets WHERE id = ANY ($1) AND deleted_at IS NULL', [
    [gone, kept],
  ])
  expect(rows).toEqual([{ id: kept }])
})

test('a deleted asset is not found by new calls but stays readable for executions in progress [asset_not_found]', async ({
  fixture,
  tenant,
  replica,
}) => {
  const [id, project] = [fixture.id('ast'), tenant.project.id]
  const byKey = { keyHash: tenant.key.hash, selector: null }
  await recordAsset(replica, { id, caller: byKey, mimeType: 'image/png', bytes: 9 })
  expect((await fixture.run('SELECT key FROM money.assets WHERE id = $1', [id])).rows).toEqual([{ key: tenant.key.id }])
  expect(await deleteAsset(replica, { project: 'prj_other', asset: id })).toEqual({ deleted: false })
  expect(await deleteAsset(replica, { project, asset: id })).toEqual({ deleted: true })
  expect(await readAsset(replica, { caller: byKey, asset: id })).toMatchObject({ refused: { code: 'asset_not_found' } })
  const question = { model: tenant.product, assets: [id] }
  expect(await readAttachments(replica, { caller: byKey, ...question })).toMatchObject({ assets: [] })
  expect(await readAttachments(replica, { caller: { project }, ...question })).toMatchObject({ assets: [{ id }] })

  await forgetAssets(replica, { ids: [id] })
  expect(await listAssetsToRemove(replica, { limit: 10 })).toEqual({ assets: [] })
  expect((await fixture.run('SELECT FROM money.assets WHERE id = $1', [id])).rowCount).toBe(1)
})
