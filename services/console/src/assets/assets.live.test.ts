import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'vitest'
import { openAssetStore } from '@gateway/assets/asset-store'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { answerOf, consoleTest, outcomeOf } from '../console.fixture.ts'
import { removeDeleted } from './assets.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\nand so on', 'latin1')

const test = consoleTest.extend('files', async ({ stack, console, folder, fixture }) => {
  await fixture.fund(stack.project, 1_000n)
  const at = `${console.url}${stack.projectPath}/assets`
  const ask = (url: string, token: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) } })
  return {
    upload: async (token: string, body: Uint8Array<ArrayBuffer> = PNG, type = 'image/png') => {
      const answer = await ask(at, token, { method: 'POST', body, headers: { 'content-type': type } })
      return answerOf(answer)
    },
    read: (id: string, token: string, headers: Record<string, string> = {}) =>
      ask(`${console.url}${stack.path}/assets/${id}`, token, { headers }),
    path: (id: string) => `${stack.path}/assets/${id}`,
    stored: () => readdir(path.join(folder, 'assets', stack.project)),
  }
})

test('lists an upload with its uploader, and serves it with its own content type and a sandboxing policy', async ({
  stack,
  files,
}) => {
  const consumer = await stack.member({ project: 'Project Consumer' })
  const { status, body } = await files.upload(consumer.token)
  expect(status).toBe(201)
  expect(body).toMatchObject({ mimeType: 'image/png', bytes: PNG.length, createdBy: consumer.id, execution: null })
  expect((await stack.owner.get(`${stack.projectPath}/assets`)).body).toEqual({ data: [body], nextCursor: null })

  const whole = await files.read(body.id, stack.owner.token)
  expect(Buffer.from(await whole.arrayBuffer())).toEqual(PNG)
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': `inline; filename="${body.id}.png"`,
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining('sandbox'),
    'cross-origin-resource-policy': 'same-origin',
  })
  const part = await files.read(body.id, stack.owner.token, { range: 'bytes=1-3' })
  expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
    206,
    'PNG',
    `bytes 1-3/${PNG.length}`,
  ])
  expect((await files.read(body.id, stack.owner.token, { range: 'bytes=9999-' })).status).toBe(416)
})

test('names an MP3 file as media players expect', async ({ stack, files }) => {
  const { id } = (await files.upload(stack.owner.token, Buffer.from('ID3 and so on'), 'audio/mpeg')).body
  const { headers } = await files.read(id, stack.owner.token)
  expect(headers.get('content-disposition')).toBe(`inline; filename="${id}.mp3"`)
})

test('rejects an upload whose bytes contradict its type or whose type is unsupported, and stores nothing [invalid_request]', async ({
  stack,
  files,
}) => {
  for (const [bytes, type] of [
    [PNG, 'image/jpeg'],
    [Buffer.from('<script>alert(1)</script>'), 'image/png'],
    [PNG, 'text/html'],
  ] as const)
    expect(outcomeOf(await files.upload(stack.owner.token, bytes, type))).toBe('400 invalid_request')
  expect((await stack.owner.get(`${stack.projectPath}/assets`)).body.data).toEqual([])
})

test('audits an upload that the ledger records after the response [unavailable]', async ({ stack, files, fixture }) => {
  await fixture.run('BEGIN')
  await fixture.run('LOCK TABLE money.assets IN EXCLUSIVE MODE') // it can be read, but a record waits
  const answer = await files.upload(stack.owner.token).finally(() => fixture.run('ROLLBACK'))
  expect(outcomeOf(answer)).toBe('503 unavailable')
  const audited = async () => (await stack.owner.get(`${stack.path}/audit?action=asset.create`)).body.data
  await expect.poll(audited, { timeout: 20_000 }).toHaveLength(1)
  const [{ id }] = (await stack.owner.get(`${stack.projectPath}/assets`)).body.data
  const requestId = answer.headers.get('x-request-id')
  expect(await audited()).toMatchObject([
    { subject: stack.project, user: stack.owner.id, details: { asset: id }, outcome: 'succeeded', requestId },
  ])
})

test('logs the cause of a read or an upload that fails in the asset store [unavailable]', async ({
  stack,
  files,
  folder,
  console,
}) => {
  const { id } = (await files.upload(stack.owner.token)).body
  const ofProject = path.join(folder, 'assets', stack.project)
  await rm(ofProject, { recursive: true })
  await writeFile(ofProject, '') // a file in its place: no asset can be opened or stored
  const read = await files.read(id, stack.owner.token)
  const uploaded = await files.upload(stack.owner.token)
  expect([read.status, outcomeOf(uploaded)]).toEqual([503, '503 unavailable'])
  for (const { headers } of [read, uploaded]) {
    const lines = async () =>
      (await readFile(console.logFile, 'utf8'))
        .split('\n')
        .filter((line) => line.includes(headers.get('x-request-id')!))
    await expect.poll(lines).toContainEqual(expect.stringMatching(/"level":"error".*(ENOTDIR|EEXIST)/))
  }
})

test('only Project Owners and Project Consumers can list, read, upload or delete assets [asset_not_found]', async ({
  stack,
  files,
}) => {
  const { id } = (await files.upload(stack.owner.token)).body
  const viewer = await stack.member({ tenant: 'Admin', team: 'Team Owner', project: 'Project Viewer' })
  expect(outcomeOf(await viewer.get(files.path(id)))).toBe('404 asset_not_found')
  expect(outcomeOf(await viewer.delete(files.path(id)))).toBe('404 asset_not_found')
  expect(outcomeOf(await viewer.get(`${stack.projectPath}/assets`))).toBe('404 not_found')
  expect(outcomeOf(await files.upload(viewer.token))).toBe('404 not_found')
  const { body } = await viewer.get(`${stack.path}/audit?action=asset.create`)
  expect(body.data).toMatchObject([{ subject: stack.project, details: {} }])
  const own = await stack.owner.get(`${stack.path}/audit?action=asset.create`)
  expect(own.body.data).toMatchObject([{ details: { asset: id } }])
})

test('lists assets newest first, with no gap between pages', async ({ stack, files }) => {
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await files.upload(stack.owner.token)).body.id)
  const first = (await stack.owner.get(`${stack.projectPath}/assets?limit=2`)).body
  const rest = (await stack.owner.get(`${stack.projectPath}/assets?limit=2&cursor=${first.nextCursor}`)).body
  expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids.toReversed())
  expect(rest.nextCursor).toBeNull()
})

test('hides a deleted asset at once, and removes its bytes when no running execution can still need them', async ({
  stack,
  files,
  fixture,
  ledger,
  services,
  folder,
  onTestFinished,
}) => {
  const { id } = (await files.upload(stack.owner.token)).body
  expect((await stack.owner.delete(files.path(id))).status).toBe(204)
  expect(outcomeOf(await stack.owner.get(files.path(id)))).toBe('404 asset_not_found')
  expect((await stack.owner.get(`${stack.projectPath}/assets`)).body.data).toEqual([])

  const client = openLedgerClient({ url: ledger.url, service: 'console', privateKey: services.secrets.console })
  const assetStore = await openAssetStore({ folder: path.join(folder, 'assets'), bucket: null })
  onTestFinished(async () => {
    await client.close()
    await assetStore.close()
  })
  const deps = { ledger: client, assetStore, log: { warn() {} } as never, stopping: new AbortController().signal }
  expect(await removeDeleted(deps)).toBe(0)
  expect(await files.stored()).toEqual([id])
  await fixture.run(`UPDATE money.assets SET deleted_at = now() - interval '61 minutes' WHERE id = $1`, [id])
  // Killed after the bytes were removed but before the removal was reported: the next run repeats it.
  await expect(
    removeDeleted({ ...deps, ledger: { ...client, assetsRemoved: () => Promise.reject(new Error('killed')) } }),
  ).rejects.toThrow('killed')
  expect(await files.stored()).toEqual([])
  expect(await removeDeleted(deps)).toBe(1)
  expect((await fixture.run('SELECT FROM money.assets WHERE id = $1', [id])).rowCount).toBe(0)
})

test('audits a deletion once if it is repeated because its answer was lost', async ({
  stack,
  files,
  ledger,
  services,
}) => {
  const { id } = (await files.upload(stack.owner.token)).body
  const client = openLedgerClient({ url: ledger.url, service: 'console', privateKey: services.secrets.console })
  await client.deleteAsset({ project: stack.project, asset: id }).finally(() => client.close())
  const statuses = [await stack.owner.delete(files.path(id)), await stack.owner.delete(files.path(id))]
  expect(statuses.map(({ status }) => status)).toEqual([204, 204])
  const { body } = await stack.owner.get(`${stack.path}/audit?action=asset.delete`)
  expect(body.data).toMatchObject([{ user: stack.owner.id, details: { asset: id } }])
})

test('removes the bytes of a deleted asset although those of an earlier one cannot be removed', async ({
  stack,
  files,
  fixture,
  ledger,
  services,
  folder,
  onTestFinished,
}) => {
  const upload = async () => (await files.upload(stack.owner.token)).body.id as string
  const [stuck, later] = [await upload(), await upload()]
  for (const [n, id] of [stuck, later].entries()) {
    await stack.owner.delete(files.path(id))
    await fixture.run(`UPDATE money.assets SET deleted_at = now() - $2 * interval '1 hour' WHERE id = $1`, [id, 3 - n])
  }
  const file = path.join(folder, 'assets', stack.project, stuck)
  await rm(file)
  await mkdir(file) // no asset can be removed in its place

  const client = openLedgerClient({ url: ledger.url, service: 'console', privateKey: services.secrets.console })
  const assetStore = await openAssetStore({ folder: path.join(folder, 'assets'), bucket: null })
  onTestFinished(async () => {
    await client.close()
    await assetStore.close()
  })
  const deps = { ledger: client, assetStore, log: { warn() {} } as never, stopping: new AbortController().signal }
  expect(await removeDeleted(deps, { batchSize: 1 })).toBe(1)
  expect(await files.stored()).toEqual([stuck])
  const { rows } = await fixture.run('SELECT id FROM money.assets WHERE project = $1', [stack.project])
  expect(rows).toEqual([{ id: stuck }])
})

test('only a Project Owner sets how long assets are retained [not_permitted]', async ({ stack }) => {
  const { owner, projectPath } = stack
  const consumer = await stack.member({ project: 'Project Consumer' })
  expect(outcomeOf(await consumer.patch(projectPath, { assetRetentionDays: 30 }))).toBe('403 not_permitted')
  for (const assetRetentionDays of [0, 3651, 1.5, '30'])
    expect(outcomeOf(await owner.patch(projectPath, { assetRetentionDays }))).toBe('400 invalid_request')
  expect((await owner.patch(projectPath, { assetRetentionDays: 30 })).body.assetRetentionDays).toBe(30)
  expect((await owner.patch(projectPath, {})).body.assetRetentionDays).toBe(30)
  expect((await owner.patch(projectPath, { assetRetentionDays: null })).body.assetRetentionDays).toBeNull()
  const { body } = await owner.get(`${stack.path}/audit?action=project.change`)
  expect(body.data.map(({ details }: { details: unknown }) => details)).toEqual([
    { assetRetentionDays: null, before: { assetRetentionDays: 30 } },
    { assetRetentionDays: 30, before: { assetRetentionDays: 90 } },
  ])
})

test('an upload needs a funded wallet and room in the quota [insufficient_budget, quota_reached]', async ({
  stack,
  console,
  fixture,
  signIn,
}) => {
  const operator = await signIn({ platformOperator: true })
  const upload = async (bytes: number) => {
    const answer = await fetch(`${console.url}${stack.projectPath}/assets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.owner.token}`, 'content-type': 'image/png' },
      body: Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length)]),
    })
    return outcomeOf(await answerOf(answer))
  }
  expect(await upload(100)).toBe('402 insufficient_budget')
  await fixture.fund(stack.project, 1n)
  expect(await upload(100)).toBe('201')
  const { body } = await operator.patch(`${stack.projectPath}/quotas`, { assetBytes: 150 })
  expect(body.quotas).toContainEqual({ quota: 'assetBytes', used: 100, limit: 150, isDefault: false })
  expect(await upload(51)).toBe('403 quota_reached')
  expect(await upload(50)).toBe('201')
})
