import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mintId } from '@gateway/api/ids'
import { openAssetStore } from '@gateway/assets/asset-store'
import { openDatabase } from '@gateway/database/client'
import { expect } from 'vitest'
import { consoleTest } from '../console.fixture.ts'
import { removeUnrecorded } from './remove-unrecorded.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\nand so on', 'latin1')
const HOUR_MS = 3_600_000
const INSERT = `INSERT INTO money.assets (id, project, mime_type, bytes, deleted_at) VALUES ($1, $2, 'image/png', 12, $3)`

const test = consoleTest
  .extend('project', async ({ stack, fixture }) => {
    await fixture.fund(stack.project, 1_000n)
    await fixture.run(INSERT, [mintId('ast', Date.now(), randomBytes(10)), stack.project, null]) // the newest asset
    return stack.project
  })
  /** A store that no other test uses, and the job of a console that uses it. */
  .extend('bytes', async ({ database }, { onCleanup }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'unrecorded-'))
    const assetStore = await openAssetStore({ folder, bucket: null })
    const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1, role: 'test' })
    onCleanup(async () => {
      await close()
      await assetStore.close()
      await rm(folder, { recursive: true, force: true })
    })
    const stop = new AbortController()
    const logged: string[] = []
    const log = { info: ({ assets }: { assets: string[] }) => void logged.push(...assets), warn() {} } as never
    return {
      folder,
      assetStore,
      logged,
      stop: () => stop.abort(),
      /** Stores bytes under an ID of this age. */
      async store(project: string, hours: number): Promise<string> {
        const id = mintId('ast', Date.now() - hours * HOUR_MS, randomBytes(10))
        await assetStore.put(project, id, single(PNG), { maxBytes: 1_000 })
        return id
      },
      ids: async (project: string) => (await readdir(path.join(folder, project))).toSorted(),
      removeUnrecorded: (limits: { maxTried?: number } = {}) =>
        removeUnrecorded({ prisma, assetStore, log, stopping: stop.signal }, limits),
    }
  })

async function* single(bytes: Buffer) {
  yield bytes
}

test('removes bytes without a row once none can be recorded for them, and no other bytes', async ({
  project,
  fixture,
  bytes,
}) => {
  const [kept, deleted] = [await bytes.store(project, 25), await bytes.store(project, 25)]
  await fixture.run(INSERT, [kept, project, null])
  await fixture.run(INSERT, [deleted, project, new Date()])
  const recent = await bytes.store(project, 23)
  await writeFile(path.join(bytes.folder, project, 'ast_by_hand'), PNG)
  for (const hours of [25, 9_000]) await bytes.store(project, hours)

  expect(await bytes.removeUnrecorded()).toBe(2)
  expect(await bytes.ids(project)).toEqual(['ast_by_hand', kept, deleted, recent].toSorted())
  expect(await bytes.removeUnrecorded()).toBe(0)
})

test('removes bytes without a row of a deleted project', async ({ project, stack, bytes }) => {
  await bytes.store(project, 25)
  expect((await stack.owner.delete(stack.projectPath)).status).toBe(204)
  expect(await bytes.removeUnrecorded()).toBe(1)
})

test('keeps bytes of projects that another database knows', async ({ fixture, bytes }) => {
  const project = fixture.id('prj')
  const id = await bytes.store(project, 25)
  expect(await bytes.removeUnrecorded()).toBe(0)
  expect(await bytes.ids(project)).toEqual([id])
})

test('keeps what the original of a restored database stored later', async ({ project, fixture, bytes }) => {
  const id = await bytes.store(project, 25)
  await fixture.run(`UPDATE money.assets SET created_at = now() - interval '26 hours'`)
  expect(await bytes.removeUnrecorded()).toBe(0)
  expect(await bytes.ids(project)).toEqual([id])
})

test('removes the bytes of a bounded number of uploads in a run', async ({ project, bytes }) => {
  for (let n = 0; n < 3; n++) await bytes.store(project, 25)
  expect(await bytes.removeUnrecorded({ maxTried: 2 })).toBe(2)
  expect(await bytes.removeUnrecorded({ maxTried: 2 })).toBe(1)
})

test('tries a bounded number if the store removes nothing', async ({ project, bytes }) => {
  for (let n = 0; n < 3; n++) await bytes.store(project, 25)
  let tried = 0
  bytes.assetStore.remove = async () => {
    tried++
    throw new Error('not allowed')
  }
  expect(await bytes.removeUnrecorded({ maxTried: 2 })).toBe(0)
  expect(tried).toBe(2)
})

test('ends soon after the console stops, with a log of what is removed', async ({ project, bytes }) => {
  const stored: string[] = []
  for (let n = 0; n < 30; n++) stored.push(await bytes.store(project, 25))
  const { remove } = bytes.assetStore
  bytes.assetStore.remove = (...names) => {
    bytes.stop()
    return remove(...names)
  }
  expect(await bytes.removeUnrecorded()).toBe(20)
  const left = await bytes.ids(project)
  expect([...left, ...bytes.logged].toSorted()).toEqual(stored.toSorted())
})

test('removes nothing while the console stops', async ({ project, bytes }) => {
  await bytes.store(project, 25)
  bytes.stop()
  expect(await bytes.removeUnrecorded()).toBe(0)
})
