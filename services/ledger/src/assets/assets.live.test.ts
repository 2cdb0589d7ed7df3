import { describe, expect } from 'vitest'
import { insertExecution } from '../fixtures/execution-rows.ts'
import { openTenant, test } from '../fixtures/ledger-test.ts'
import { readAsset, recordAsset } from './assets.ts'

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
    await expect(recordAsset(replica, { ...record, bytes: 13 })).rejects.toThrow('another one')

    const own = { asset: { id, project: tenant.project.id, mimeType: 'image/png', bytes: 12 } }
    expect(await readAsset(replica, { caller: asked(tenant.key.hash), asset: id })).toEqual(own)
    expect(await readAsset(replica, { caller: { project: tenant.project.id }, asset: id })).toEqual(own)
    const other = (await openTenant(fixture)).key.hash
    for (const asset of [id, 'ast_never'])
      expect(await readAsset(replica, { caller: asked(other), asset })).toEqual({
        refused: { code: 'asset_not_found', facts: { asset } },
      })
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
})
