import { describe, expect } from 'vitest'
import { openTenant, test } from '../fixtures/ledger-test.ts'
import { readAttachments, recordAsset } from './assets.ts'

const asked = (hash: string, selector: string | null = null) => ({ keyHash: hash, selector })

describe('readAttachments', () => {
  test('returns the image limits of the product, and those of the named assets that the project owns', async ({
    fixture,
    tenant,
    replica,
  }) => {
    const [own, theirs] = [fixture.id('ast'), fixture.id('ast')]
    const other = await openTenant(fixture)
    for (const [id, { key }] of [
      [own, tenant],
      [theirs, other],
    ] as const)
      await recordAsset(replica, { id, caller: asked(key.hash), mimeType: 'image/png', bytes: 12 })
    const model = await fixture.publishProduct({
      maxTokensPerImage: 100,
      imageMaxBytes: 1_000,
      imageMaxCount: 3,
      imageHttps: true,
      takesFiles: true,
    })
    await fixture.assign(tenant.project.id, model)
    const known = {
      project: tenant.project.id,
      limits: { images: { maxBytes: 1_000, maxCount: 3, https: true }, files: true },
      assets: [{ id: own, mimeType: 'image/png', bytes: 12 }],
    }
    const assets = [own, theirs, 'ast_never']
    for (const caller of [asked(tenant.key.hash), { project: tenant.project.id }])
      expect(await readAttachments(replica, { caller, model, assets })).toEqual(known)
  })

  test('returns no limits for a product without images and files, or that the project cannot call', async ({
    fixture,
    tenant,
    replica,
  }) => {
    const unassigned = await fixture.publishProduct({ maxTokensPerImage: 100 })
    const suspended = await fixture.publishProduct({ maxTokensPerImage: 100, state: 'suspended' })
    await fixture.assign(tenant.project.id, suspended)
    for (const model of [tenant.product, unassigned, suspended, 'acme/none'])
      expect(await readAttachments(replica, { caller: asked(tenant.key.hash), model, assets: [] })).toEqual({
        project: tenant.project.id,
        limits: { images: null, files: false },
        assets: [],
      })
  })

  test('refuses the same callers as a call does [key_invalid, project_mismatch]', async ({ tenant, replica }) => {
    const question = { model: tenant.product, assets: [] }
    expect(await readAttachments(replica, { caller: asked('f'.repeat(64)), ...question })).toMatchObject({
      refused: { code: 'key_invalid' },
    })
    expect(await readAttachments(replica, { caller: asked(tenant.key.hash, 'prj_other'), ...question })).toMatchObject({
      refused: { code: 'project_mismatch' },
    })
  })
})
