import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test as base } from 'vitest'
import { AssetMissing } from '@gateway/assets/blob-backend'
import { openAssetStore } from '@gateway/assets/asset-store'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import type { Deps } from '../deps.ts'
import { type CancelReason, type Work, WorkCancelled } from '../work.ts'
import { prepareImage } from './product-media.ts'

/* oxlint-disable no-empty-pattern -- vitest reads the needed fixtures from the pattern */

const PNG = Buffer.from('\x89PNG\r\n\x1a\n0123456789', 'latin1')
const ROUTE = { provider: 'simulated', model: 'sim' }

const test = base
  .extend('assets', async ({}, { onCleanup }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'media-'))
    const assets = await openAssetStore({ folder, bucket: null })
    onCleanup(async () => {
      await assets.close()
      await rm(folder, { recursive: true })
    })
    return assets
  })
  /** Draws an image whose work is cancelled once it has arrived, or while the ledger is asked, which is unavailable. */
  .extend('draw', ({ assets }) => async (reason: CancelReason, when: 'arrived' | 'asked' = 'arrived') => {
    const work = new AbortController()
    let asked = 0
    const deps = {
      assets,
      newId: () => 'ast_1',
      providers: {
        async media({ store }: { store: (bytes: AsyncIterable<Buffer>) => Promise<object> }) {
          const stored = await store(single(PNG))
          if (when === 'arrived') work.abort(new WorkCancelled(reason))
          return { stored, remoteMs: 1, route: ROUTE }
        },
      },
      ledger: {
        admitAsset: async () => ({ project: 'prj_1' }),
        async recordAsset() {
          if (when === 'asked') work.abort(new WorkCancelled(reason))
          if (++asked === 1) throw new LedgerUnavailable({ why: 'unavailable' })
          return { recorded: true, project: 'prj_1' }
        },
      },
    } as unknown as Deps
    const node = { id: 'paint', kind: 'product.image', product: 'painter' }
    const task = { claim: { node, project: 'prj_1' }, lease: { execution: 'exe_1' } } as unknown as Work
    const call = await prepareImage(deps, task, { prompt: 'an otter' }, work.signal)
    return call.make({ routes: [], product: 'painter', invocation: 'inv_1' } as never, work.signal, {} as never)
  })

test.for(['execution-stopped', 'execution-ending', 'overdue'] as const)(
  'an image that has arrived is recorded, so it is charged, even if its work is cancelled: %s',
  async (reason, { draw, assets }) => {
    const answer = await draw(reason)
    expect(answer.output()).toEqual({ image: { asset: 'ast_1', mimeType: 'image/png', bytes: PNG.length } })
    expect(await assets.readWhole('prj_1', 'ast_1')).toEqual(PNG)
  },
)

test('an image that has arrived is removed if its worker stops, because another one draws it again', async ({
  draw,
  assets,
}) => {
  await expect(draw('stopping')).rejects.toMatchObject({ reason: 'stopping' })
  await expect(assets.readWhole('prj_1', 'ast_1')).rejects.toThrow(AssetMissing)
})

test('an image that the ledger may have recorded keeps its bytes', async ({ draw, assets }) => {
  await expect(draw('stopping', 'asked')).rejects.toMatchObject({ reason: 'stopping' })
  expect(await assets.readWhole('prj_1', 'ast_1')).toEqual(PNG)
})

async function* single(bytes: Buffer) {
  yield bytes
}
