import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test as base } from 'vitest'
import { z } from 'zod'
import { AssetMissing, AssetStoreUnavailable, AssetTooLarge, AssetTypeUnknown } from './blob-backend.ts'
import { assetStoreConfig, assetStoreOf } from './asset-store-config.ts'
import { openAssetStore } from './asset-store.ts'

/* oxlint-disable no-empty-pattern -- vitest reads from the pattern what a fixture needs */
const test = base
  .extend('folder', async ({}, { onCleanup }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'assets-test-'))
    onCleanup(() => rm(folder, { recursive: true, force: true }))
    return folder
  })
  .extend('store', async ({ folder }, { onCleanup }) => {
    const store = await openAssetStore(assetStoreOf(z.object(assetStoreConfig).parse({ ASSETS_FOLDER: folder })))
    onCleanup(() => store.close())
    return store
  })

const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from('0123456789'.repeat(1_000))])
const LIMIT = { maxBytes: 1_000_000 }

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

test('returns stored bytes unchanged, whole and in part, and their type', async ({ store }) => {
  for (const size of [1, 7, 100_000]) {
    const asset = `ast_${size}`
    expect(await store.put('prj_1', asset, inPieces(PNG, size), LIMIT)).toEqual({
      mimeType: 'image/png',
      bytes: PNG.length,
    })
    expect(await store.readWhole('prj_1', asset)).toEqual(PNG)
    expect(await buffer(await store.openForCaller('prj_1', asset, { first: 0, last: 0 }))).toEqual(PNG.subarray(0, 1))
    expect(await buffer(await store.openForCaller('prj_1', asset, { first: 8, last: 17 }))).toEqual(
      Buffer.from('0123456789'),
    )
  }
})

test('finds an asset only under its project', async ({ store }) => {
  await store.put('prj_1', 'ast_1', inPieces(PNG, 100), LIMIT)
  await expect(store.readWhole('prj_2', 'ast_1')).rejects.toThrow(AssetMissing)
  await store.remove('prj_1', 'ast_1')
  await store.remove('prj_1', 'ast_1')
  await expect(store.readWhole('prj_1', 'ast_1')).rejects.toThrow(AssetMissing)
})

test('lists stored assets in pages, and skips what is not named by ids', async ({ store, folder }) => {
  await store.put('prj_1', 'ast_0', inPieces(PNG, 100_000), LIMIT)
  for (const inside of ['prj_2/nested', 'lost+found']) await mkdir(path.join(folder, inside), { recursive: true })
  const ids = Array.from({ length: 1_000 }, (_, n) => `ast_${n}`)
  const others = ['file', 'lost+found/ast_1', 'prj_1/.nfs01', 'prj_2/nested/ast_1']
  for (const name of [...ids.map((id) => `prj_2/${id}`), ...others]) await writeFile(path.join(folder, name), PNG)
  const pages = await Array.fromAsync(store.list())
  expect(pages.map(({ length }) => length <= 1_000)).toEqual([true, true])
  const all = pages.flat().map(({ project, id }) => `${project}/${id}`)
  expect(all.toSorted()).toEqual(['prj_1/ast_0', ...ids.map((id) => `prj_2/${id}`)].toSorted())
})

test('throws AssetStoreUnavailable if the folder cannot be listed', async ({ store, folder }) => {
  await rm(folder, { recursive: true })
  await expect(Array.fromAsync(store.list())).rejects.toThrow(AssetStoreUnavailable)
})

test('refuses ids that could lead out of the folder of a project', async ({ store }) => {
  for (const name of ['..', '../prj_2', 'a/b', '', '.', 'a.b', '%2e%2e', 'ast_1\0', '-', `a${'b'.repeat(64)}`]) {
    await expect(store.put('prj_1', name, inPieces(PNG, 100), LIMIT)).rejects.toThrow(RangeError)
    await expect(store.readWhole(name, 'ast_1')).rejects.toThrow(RangeError)
    await expect(store.remove('prj_1', name)).rejects.toThrow(RangeError)
  }
})

test('leaves nothing of a stream that is too large, of another format or incomplete', async ({ store, folder }) => {
  const put = (bytes: AsyncIterable<Uint8Array>, maxBytes = LIMIT.maxBytes) =>
    store.put('prj_1', 'ast_1', bytes, { maxBytes })
  async function* breakingOff() {
    yield PNG
    throw new Error('it broke off')
  }
  await expect(put(inPieces(PNG, 100), PNG.length - 1)).rejects.toThrow(AssetTooLarge)
  await expect(put(inPieces(Buffer.from('GIF89a and so on'), 3))).rejects.toThrow(AssetTypeUnknown)
  await expect(put(inPieces(PNG.subarray(0, 8), 3))).rejects.toThrow(AssetTypeUnknown)
  await expect(put(inPieces(Buffer.alloc(0), 3))).rejects.toThrow(AssetTypeUnknown)
  await expect(put(breakingOff())).rejects.toThrow('it broke off')
  expect(await readdir(folder)).toEqual([])
  expect(await put(inPieces(PNG, 100), PNG.length)).toMatchObject({ bytes: PNG.length })
})

test('creates the folder without access for other users of the machine', async ({ store, folder }) => {
  const inside = path.join(folder, 'inside')
  const other = await openAssetStore({ folder: inside, bucket: null })
  await other.close()
  expect((await stat(inside)).mode & 0o077).toBe(0)
  expect(store).toBeDefined()
})

test('creates the temporary folder again if the system has removed it', async ({ folder, store, onTestFinished }) => {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = await mkdtemp(path.join(folder, 'tmp-'))
  onTestFinished(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
  await store.put('prj_1', 'ast_1', inPieces(PNG, 100), LIMIT)
  for (const name of await readdir(tmpdir())) await rm(path.join(tmpdir(), name), { recursive: true })
  const puts = ['ast_2', 'ast_3'].map((asset) => store.put('prj_1', asset, inPieces(PNG, 100), LIMIT))
  expect((await Promise.all(puts)).map(({ bytes }) => bytes)).toEqual([PNG.length, PNG.length])
  expect(await store.readWhole('prj_1', 'ast_2')).toEqual(PNG)
})

test('throws AssetStoreUnavailable if the folder is not usable', async ({ store, folder }) => {
  await rm(folder, { recursive: true })
  await writeFile(folder, 'a file where the folder was')
  await expect(store.put('prj_1', 'ast_1', inPieces(PNG, 100), LIMIT)).rejects.toThrow(AssetStoreUnavailable)
  await expect(store.readWhole('prj_1', 'ast_1')).rejects.toThrow(AssetStoreUnavailable)
})

test('refuses a read above the limit of a project, until one of its reads has ended [overloaded]', async ({
  folder,
  onTestFinished,
}) => {
  const store = await openAssetStore({ folder, bucket: null, limits: { readsPerProject: 2 } })
  onTestFinished(() => store.close())
  for (const project of ['prj_1', 'prj_2']) await store.put(project, 'ast_1', inPieces(PNG, 100), LIMIT)
  const read = (project: string) => store.openForCaller(project, 'ast_1')
  const [first, second] = [await read('prj_1'), await read('prj_1')]
  await expect(read('prj_1')).rejects.toMatchObject({ code: 'overloaded', headers: { 'Retry-After': '1' } })
  await expect(store.openForCaller('prj_2', 'ast_none')).rejects.toThrow(AssetMissing)
  expect(await buffer(await read('prj_2'))).toEqual(PNG)
  expect(await buffer(first)).toEqual(PNG)
  await once(second.destroy(), 'close')
  for (let n = 0; n < 3; n++) expect(await buffer(await read('prj_1'))).toEqual(PNG)
})

test('reads nothing of a file for which its project has no room, until one of its files is stored [overloaded]', async ({
  folder,
  onTestFinished,
}) => {
  const store = await openAssetStore({ folder, bucket: null, limits: { transitBytes: 2 * PNG.length } })
  onTestFinished(() => store.close())
  const maxBytes = PNG.length
  const room = await store.makeRoom('prj_1', maxBytes)
  const unread = inPieces(PNG, 100)
  await expect(store.put('prj_1', 'ast_1', unread, { maxBytes })).rejects.toMatchObject({
    code: 'overloaded',
    headers: { 'Retry-After': '1' },
  })
  expect((await unread.next()).value).toEqual(PNG.subarray(0, 100))
  await store.put('prj_2', 'ast_2', inPieces(PNG, 100), { maxBytes })
  await room.put('ast_3', inPieces(PNG, 100))
  room.giveBack()
  await expect(store.put('prj_1', 'ast_4', inPieces(Buffer.from('GIF89a and so on'), 3), { maxBytes })).rejects.toThrow(
    AssetTypeUnknown,
  )
  await store.put('prj_1', 'ast_5', inPieces(PNG, 100), { maxBytes })
})
