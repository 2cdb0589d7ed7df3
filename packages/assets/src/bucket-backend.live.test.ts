import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { expect, test as base, vi } from 'vitest'
import { AssetMissing, AssetStoreUnavailable, AssetTypeUnknown } from './blob-backend.ts'
import { type AssetStore, openAssetStore } from './asset-store.ts'
import type { AssetLimits, BucketSettings } from './asset-store-config.ts'
import { startSmallBucket } from './fixtures/small-bucket.ts'

/* oxlint-disable no-empty-pattern -- vitest reads from the pattern what a fixture needs */
const test = base
  .extend('server', async ({}, { onCleanup }) => {
    const server = await startSmallBucket()
    onCleanup(server.stop)
    return server
  })
  .extend('proxy', async ({ server }, { onCleanup }) => {
    const { hostname, port } = new URL(server.url)
    const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
    onCleanup(proxy.close)
    return proxy
  })
  .extend('openStore', async ({}, { onCleanup }) => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test-key')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a secret')
    const stores: AssetStore[] = []
    onCleanup(async () => {
      for (const store of stores) await store.close()
      vi.unstubAllEnvs()
    })
    return async (endpoint: string, limits: Partial<AssetLimits> = {}, more: Partial<BucketSettings> = {}) => {
      const bucket = { name: 'assets', region: 'eu-north-1', endpoint, pathStyle: true, ...more }
      const store = await openAssetStore({ folder: '', bucket, limits })
      stores.push(store)
      return store
    }
  })
  .extend('store', ({ server, openStore }) => openStore(server.url))

const WAV = Buffer.concat([Buffer.from('RIFF....WAVEfmt '), Buffer.alloc(200_000, 7)])

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000)
}
const LIMIT = { maxBytes: 1_000_000 }

test('stores bytes in a bucket with their type and length, and reads them whole and in part', async ({
  store,
  server,
}) => {
  expect(await store.put('prj_1', 'ast_1', inPieces(WAV), LIMIT)).toEqual({ mimeType: 'audio/wav', bytes: WAV.length })
  expect(server.objects.get('/assets/prj_1/ast_1')).toEqual({ bytes: WAV, contentType: 'audio/wav' })
  expect(await store.readWhole('prj_1', 'ast_1')).toEqual(WAV)
  const part = await buffer(await store.openForCaller('prj_1', 'ast_1', { first: 8, last: 11 }))
  expect(part.toString()).toBe('WAVE')
  await store.remove('prj_1', 'ast_1')
  await expect(store.readWhole('prj_1', 'ast_1')).rejects.toThrow(AssetMissing)
})

test('retries a bucket that is briefly unavailable', async ({ store, server }) => {
  server.failNext(2)
  await store.put('prj_1', 'ast_1', inPieces(WAV), LIMIT)
  expect(server.objects.size).toBe(1)
  server.failNext(1_000)
  await expect(store.put('prj_1', 'ast_2', inPieces(WAV), LIMIT)).rejects.toThrow(AssetStoreUnavailable)
})

test('lists the assets of a bucket in pages, and skips keys that are not ids', async ({ store, server }) => {
  const ids = Array.from({ length: 1_001 }, (_, n) => `ast_${n}`)
  const others = ['ast_1', 'logs/2026/ast_1', 'prj_1/a.b']
  for (const key of [...ids.map((id) => `prj_1/${id}`), ...others])
    server.objects.set(`/assets/${key}`, { bytes: WAV, contentType: 'audio/wav' })
  const pages = await Array.fromAsync(store.list())
  expect(pages.flat()).toEqual(ids.map((id) => ({ project: 'prj_1', id })))
  expect(pages.map(({ length }) => length)).toEqual([1_000, 1])
  server.failNext(1_000)
  await expect(Array.fromAsync(store.list())).rejects.toThrow(AssetStoreUnavailable)
})

test(
  'retries on a new connection if one to the bucket falls silent',
  { timeout: 60_000 },
  async ({ proxy, openStore }) => {
    const store = await openStore(`http://127.0.0.1:${proxy.port}`)
    await store.put('prj_1', 'ast_1', inPieces(WAV), LIMIT)
    proxy.fallSilent()
    expect(await store.readWhole('prj_1', 'ast_1')).toEqual(WAV)
  },
)

/** More than the buffers between a bucket and a caller hold. */
const LARGE = Buffer.concat([WAV, Buffer.alloc(24_000_000, 7)])
const SILENCE = { silentMs: 300 }

test('lets a caller pause for longer than a bucket may be silent', async ({ server, openStore }) => {
  const store = await openStore(server.url, {}, SILENCE)
  server.objects.set('/assets/prj_1/ast_1', { bytes: LARGE, contentType: 'audio/wav' })
  const bytes = await store.openForCaller('prj_1', 'ast_1')
  await once((bytes as IncomingMessage).socket, 'timeout')
  expect((await buffer(bytes)).equals(LARGE)).toBe(true)
})

test('ends the read of a caller if the bucket falls silent', async ({ server, proxy, openStore }) => {
  const store = await openStore(proxy.through(server.url), {}, SILENCE)
  server.objects.set('/assets/prj_1/ast_1', { bytes: LARGE, contentType: 'audio/wav' })
  const bytes = await store.openForCaller('prj_1', 'ast_1')
  await once((bytes as IncomingMessage).socket, 'timeout')
  proxy.fallSilent()
  await expect(buffer(bytes)).rejects.toThrow('silent')
})

test('retries the read of a caller on a new connection if one to the bucket falls silent', async ({
  server,
  proxy,
  openStore,
}) => {
  const store = await openStore(proxy.through(server.url), {}, SILENCE)
  await store.put('prj_1', 'ast_1', inPieces(WAV), LIMIT)
  expect(await buffer(await store.openForCaller('prj_1', 'ast_1'))).toEqual(WAV)
  proxy.fallSilent()
  expect(await buffer(await store.openForCaller('prj_1', 'ast_1'))).toEqual(WAV)
})

test('reads and stores for another project while 50 callers of one project read slowly', async ({
  server,
  openStore,
}) => {
  const store = await openStore(server.url, { readsPerProject: 50 })
  await store.put('prj_1', 'ast_1', inPieces(WAV), LIMIT)
  await store.put('prj_2', 'ast_2', inPieces(WAV), LIMIT)
  const slow = await Promise.all(Array.from({ length: 50 }, () => store.openForCaller('prj_1', 'ast_1')))
  expect(await buffer(await store.openForCaller('prj_2', 'ast_2'))).toEqual(WAV)
  await store.put('prj_2', 'ast_3', inPieces(WAV), LIMIT)
  expect(slow.filter(({ destroyed }) => destroyed)).toEqual([])
  for (const bytes of slow) bytes.destroy()
})

test('reads for the process and stores while callers read as much as they may', async ({ server, openStore }) => {
  const store = await openStore(server.url, { reads: 50, readsPerProject: 50 })
  await store.put('prj_1', 'ast_1', inPieces(WAV), LIMIT)
  const slow = await Promise.all(Array.from({ length: 50 }, () => store.openForCaller('prj_1', 'ast_1')))
  await expect(store.openForCaller('prj_2', 'ast_1')).rejects.toMatchObject({ code: 'overloaded' })
  expect(await store.readWhole('prj_1', 'ast_1')).toEqual(WAV)
  await store.put('prj_1', 'ast_2', inPieces(WAV), LIMIT)
  for (const bytes of slow) bytes.destroy()
})

test('sends nothing to the bucket for refused bytes', async ({ store, server }) => {
  const put = store.put('prj_1', 'ast_1', inPieces(Buffer.from('<html>and so on</html>')), LIMIT)
  await expect(put).rejects.toThrow(AssetTypeUnknown)
  expect(server.requests).toEqual([])
})
