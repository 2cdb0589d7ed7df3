import { EventEmitter } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openAssetStore } from '@gateway/assets/asset-store'
import { expect, onTestFinished, test } from 'vitest'
import type { ExecutionRecord } from '@gateway/api/execution'
import { refuse } from '@gateway/api/refusal'
import type { Deps } from '../deps.ts'
import { executionResult, refusedResult } from './call-tool.ts'

const picture = { asset: 'ast_1', mimeType: 'image/png', bytes: 3 }
const record: ExecutionRecord = {
  id: 'exe_1',
  object: 'sandbox.execution',
  sandbox: 'sbx-1',
  revision: 2,
  project: 'prj_1',
  rerunOf: null,
  status: 'Succeeded',
  output: { text: 'Hi', picture, more: null },
  error: null,
  nodes: [],
  childCalls: [],
  maxMicro: null,
  chargedMicro: 42,
  createdAt: '2026-11-20T00:00:00Z',
  startedAt: null,
  completedAt: null,
}
const service = { kind: 'sandbox', execution_id: 'exe_1', project: 'prj_1', revision: 2, charged_micro: 42 }

/** A ledger and a store that have every asset. */
const deps = {
  ledger: {
    readAsset: async ({ caller, asset }: { caller: { project: string }; asset: string }) => ({
      asset: { id: asset, project: caller.project, mimeType: 'image/png', bytes: 3 },
    }),
  },
  imageMemory: { take: async () => () => {} },
  assetStore: {
    readWhole: async (project: string, asset: string) => Buffer.from(`${asset} of ${project}`),
  },
} as unknown as Deps
const request = { disconnected: new AbortController().signal, res: new EventEmitter() } as never
const resultOf = (record: ExecutionRecord) => executionResult(deps, record, request)

test('returns outputs as structured content, as text, and as media, and omits null outputs', async () => {
  expect(await resultOf(record)).toEqual({
    content: [
      { type: 'text', text: JSON.stringify({ text: 'Hi', picture }) },
      { type: 'image', data: Buffer.from('ast_1 of prj_1').toString('base64'), mimeType: 'image/png' },
    ],
    structuredContent: { text: 'Hi', picture },
    _meta: { service },
  })
})

test('gives the memory of all media back when the response closes, with one listener', async () => {
  let taken = 0
  const res = new EventEmitter()
  const imageMemory = {
    maxBytes: 1_000,
    take: async (_: string, bytes: number) => {
      taken += bytes
      return () => void (taken -= bytes)
    },
  }
  const output = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`picture${n}`, picture]))
  const given = { disconnected: new AbortController().signal, res } as never
  await executionResult({ ...deps, imageMemory }, { ...record, output }, given)
  expect([taken, res.listenerCount('close')]).toEqual([36, 1])
  res.emit('close')
  expect(taken).toBe(0)
})

test('names the media beyond 25 MB of a result in a text that says how to read them', async () => {
  const bytesOf: Record<string, number> = { ast_1: 20_000_000, ast_2: 5_000_001, ast_3: 5_000_000 }
  const readAsset = async ({ asset: id }: { asset: string }) => ({
    asset: { id, project: 'prj_1', mimeType: 'image/png', bytes: bytesOf[id] },
  })
  const readWhole = async (_: string, asset: string) => Buffer.alloc(bytesOf[asset]!)
  const large = { ...deps, ledger: { readAsset }, assetStore: { readWhole } } as unknown as Deps
  const output = Object.fromEntries(Object.keys(bytesOf).map((asset) => [asset, { ...picture, asset }]))
  const { content } = await executionResult(large, { ...record, output }, request)
  expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'text', 'image'])
  expect((content[2] as { text: string }).text).toContain('GET /v1/assets/ast_2')
})

test('names the media in a text if the store breaks off in the middle of a read', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'assets-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const store = await openAssetStore({ folder, bucket: null })
  onTestFinished(() => store.close())
  await mkdir(path.join(folder, 'prj_1', 'ast_1'), { recursive: true }) // opens, but can't be read
  const { content } = await executionResult({ ...deps, assetStore: store }, record, request)
  expect((content[1] as { text: string }).text).toContain('GET /v1/assets/ast_1')
})

test.each([
  { asset: 'ast_1' },
  { ...picture, mimeType: 'text/plain' },
  { ...picture, bytes: 'many' },
  'ast_1',
  [picture],
])('returns no media for %j, which is not an image or audio value', async (more) => {
  expect((await resultOf({ ...record, output: { more } })).content).toHaveLength(1)
})

test('returns the error and charge of a failed execution', async () => {
  const { body } = refuse('node_failed', { node: 'draw' })
  const failed = await resultOf({ ...record, status: 'Failed', output: null, error: body })
  expect(failed).toMatchObject({ isError: true, _meta: { service } })
  expect(failed).not.toHaveProperty('structuredContent')
  expect(JSON.parse((failed.content[0] as { text: string }).text)).toEqual({
    error: body,
    execution: 'exe_1',
    chargedMicro: 42,
  })
})

test('reports a refusal with its resolution', () => {
  const { isError, content } = refusedResult(refuse('idempotency_mismatch', {}))
  expect(isError).toBe(true)
  expect(JSON.parse((content[0] as { text: string }).text)).toMatchObject({
    error: { code: 'idempotency_mismatch', message: expect.any(String), resolution: expect.stringMatching(/\w/) },
  })
})
