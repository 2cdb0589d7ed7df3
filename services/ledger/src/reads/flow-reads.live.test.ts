import { createHash } from 'node:crypto'
import { describe, expect } from 'vitest'
import { modelEntry } from '@gateway/contracts/model-entry'
import type { ContractSide } from '@gateway/contracts/graph'
import { openShop, test as shopTest } from '../shop.fixture.ts'
import { recordAsset, readAsset } from './assets.ts'
import { readModels } from './models.ts'
import { readSandbox } from './sandbox.ts'
import { readUsage } from './usage.ts'

const TEXT: ContractSide = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

interface Saved {
  chat?: boolean
  active?: boolean
  suspended?: boolean
  mcp?: boolean
  manifest?: string[]
}

const test = shopTest
  .extend('reads', ({ replica }) => ({
    models: readModels(replica.reads),
    sandbox: readSandbox(replica.reads),
    recordAsset: recordAsset(replica.reads),
    asset: readAsset(replica.reads),
    usage: readUsage(replica.reads),
  }))
  .extend('save', async ({ world, shop }) => async (saved: Saved = {}, project = shop.project.id): Promise<string> => {
    const { chat = true, active = true, suspended = false, mcp = false, manifest = [shop.product] } = saved
    const id = world.id('sbx').replace('_', '-')
    const flow = Buffer.from(JSON.stringify({ runnerVersion: '1', graph: {}, input: TEXT, output: TEXT, manifest }))
    const digest = createHash('sha256').update(id).digest('hex')
    await world.run(
      `INSERT INTO control.sandboxes (id, project, name, description, mcp_enabled, latest_revision, created_by)
       VALUES ($1, $2, 'Summaries', 'Makes them', $3, 2, $4)`,
      [id, project, mcp, shop.owners.owner],
    )
    await world.run(
      `INSERT INTO control.revisions (sandbox, number, draft, graph, problems, digest, package, manifest, chat_input, chat_output, created_by)
       VALUES ($1, 2, false, '{}', '[]', $2, $3, $4, $5, $5, $6)`,
      [id, digest, flow, manifest, chat ? 'text' : null, shop.owners.owner],
    )
    if (active)
      await world.run(
        `UPDATE control.sandboxes SET active_revision = 2, activated_at = '2026-11-20T12:00:00Z', suspended = $2 WHERE id = $1`,
        [id, suspended],
      )
    return id
  })

const asked = (hash: string) => ({ keyHash: hash, selector: null })
const idsIn = (answer: Awaited<ReturnType<ReturnType<typeof readModels>>>) =>
  'entries' in answer ? answer.entries.map(({ id }) => id) : answer.refused.code

describe('the models of a key', () => {
  test('hold the active chat-compatible flows of its project, as the specification shapes them', async ({
    shop,
    save,
    reads,
  }) => {
    const sandbox = await save()
    for (const not of [{ chat: false }, { active: false }, { suspended: true }]) await save(not)
    const answer = await reads.models(asked(shop.key.hash))
    expect(idsIn(answer)).toEqual([shop.product, sandbox])
    const entry = modelEntry.parse('entries' in answer && answer.entries[1])
    expect(entry).toMatchObject({
      created: Date.UTC(2026, 10, 20, 12) / 1000,
      owned_by: shop.project.id, // the project's name, which in these worlds is its id
      modality: 'text->text',
      context_length: 65_536,
      supported_parameters: ['stream', 'stream_options'],
      pricing: { unit: 'execution', prompt: '0', completion: '0', request: '0' },
      service: { kind: 'sandbox', revision: 2, invoke: `/v1/sandbox/${sandbox}/invoke` },
    })
  })

  test('of a listed key hold a flow only where the flow and its whole manifest are listed', async ({
    world,
    shop,
    save,
    reads,
  }) => {
    const [sandbox, free] = [await save(), await save({ manifest: [] })]
    const seenWith = async (...resources: string[]) => {
      const key = await world.key({ project: shop.project, by: shop.owners.owner, policy: 'listed', resources })
      return idsIn(await reads.models(asked(key.hash)))
    }
    expect(await seenWith(sandbox)).toEqual([])
    expect(await seenWith(shop.product)).toEqual([shop.product])
    expect(await seenWith(sandbox, free, shop.product)).toEqual([shop.product, ...[sandbox, free].toSorted()])
    expect(await seenWith(free)).toEqual([free])
  })

  test('hold no flow of another project of the same organization', async ({ world, shop, save, reads }) => {
    const other = await world.project(shop.owners)
    await save({}, other.id)
    expect(idsIn(await reads.models(asked(shop.key.hash)))).toEqual([shop.product])
  })
})

describe('a sandbox product, to a key', () => {
  test('is its contract and whether it may be called over MCP', async ({ shop, save, reads }) => {
    const sandbox = await save({ mcp: true })
    const ask = () => reads.sandbox({ caller: asked(shop.key.hash), sandbox })
    const first = await ask()
    expect(first).toEqual({
      sandbox: {
        id: sandbox,
        name: 'Summaries',
        description: 'Makes them',
        project: shop.project.id,
        mcpEnabled: true,
        suspended: false,
        revision: 2,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        input: TEXT,
        output: TEXT,
      },
    })
    expect(await ask()).toEqual(first)
  })

  test('is refused in the order of checks [key_invalid, project_mismatch, sandbox_not_found, key_scope, revision_not_active]', async ({
    world,
    shop,
    save,
    reads,
  }) => {
    const [own, asleep, draft] = [await save(), await save({ suspended: true }), await save({ active: false })]
    const others = await save({}, (await openShop(world)).project.id)
    const listing = async (...resources: string[]) =>
      world.key({ project: shop.project, by: shop.owners.owner, policy: 'listed', resources })
    const ask = async (sandbox: string, hash: string, selector: string | null = null) => {
      const answer = await reads.sandbox({ caller: { keyHash: hash, selector }, sandbox })
      return 'refused' in answer ? answer.refused : null
    }
    const { hash } = shop.key
    expect(await ask(others, 'f'.repeat(64))).toMatchObject({ code: 'key_invalid' })
    expect(await ask(others, hash, 'prj_other')).toMatchObject({ code: 'project_mismatch' })
    for (const not of [others, 'sbx-never'])
      expect(await ask(not, hash)).toEqual({ code: 'sandbox_not_found', facts: { sandbox: not } })
    expect(await ask(own, (await listing(own)).hash)).toEqual({ code: 'key_scope', facts: { resource: shop.product } })
    expect(await ask(draft, (await listing()).hash)).toEqual({ code: 'key_scope', facts: { resource: draft } })
    expect(await ask(asleep, hash)).toBeNull() // what it ran before can be had again
    expect(await ask(draft, hash)).toEqual({
      code: 'revision_not_active',
      facts: { revision: null, activeRevision: null, suspended: false },
    })
  })
})

describe('an asset', () => {
  test('is recorded once, for the project of its key, and is nothing to others [asset_not_found]', async ({
    world,
    shop,
    reads,
  }) => {
    const id = world.id('ast')
    const record = { id, caller: asked(shop.key.hash), mimeType: 'image/png' as const, bytes: 12 }
    for (let n = 0; n < 2; n++)
      expect(await reads.recordAsset(record)).toEqual({ recorded: true, project: shop.project.id })
    await expect(reads.recordAsset({ ...record, bytes: 13 })).rejects.toThrow('another one')

    const own = { asset: { id, project: shop.project.id, mimeType: 'image/png', bytes: 12 } }
    expect(await reads.asset({ caller: asked(shop.key.hash), asset: id })).toEqual(own)
    expect(await reads.asset({ caller: { project: shop.project.id }, asset: id })).toEqual(own)
    const stranger = (await openShop(world)).key.hash
    for (const asset of [id, 'ast_never'])
      expect(await reads.asset({ caller: asked(stranger), asset })).toEqual({
        refused: { code: 'asset_not_found', facts: { asset } },
      })
  })

  test('is recorded for a run of that project only [execution_not_found, key_invalid]', async ({
    world,
    shop,
    save,
    reads,
  }) => {
    const [sandbox, execution] = [await save(), world.id('exe')]
    await world.run(
      `INSERT INTO money.executions (id, project, sandbox, revision, person, surface, status, created_at, deadline_at)
       VALUES ($1, $2, $3, 2, $4, 'invoke', 'Running', now(), now())`,
      [execution, shop.project.id, sandbox, shop.owners.owner],
    )
    const record = { id: world.id('ast'), mimeType: 'audio/wav' as const, bytes: 9 }
    const stranger = (await openShop(world)).project.id
    for (const caller of [
      { project: stranger, execution },
      { project: shop.project.id, execution: 'exe_never' },
    ])
      expect(await reads.recordAsset({ ...record, caller })).toMatchObject({
        refused: { code: 'execution_not_found' },
      })
    expect(await reads.recordAsset({ ...record, caller: asked('f'.repeat(64)) })).toMatchObject({
      refused: { code: 'key_invalid' },
    })
    const caller = { project: shop.project.id, execution }
    expect(await reads.recordAsset({ ...record, caller })).toEqual({ recorded: true, project: shop.project.id })
  })
})

test('the usage of a run is that of its settled calls', async ({ world, shop, reads }) => {
  const execution = world.id('exe')
  expect(await reads.usage({ execution })).toEqual({ promptTokens: 0, completionTokens: 0 })
  for (const [node, state, prompt] of [
    ['a', 'Settled', 5],
    ['b', 'Settled', 7],
    ['c', 'Released', null],
  ])
    await world.run(
      `INSERT INTO money.invocations (id, invocation, attempt, state, project, prompt_tokens, completion_tokens, closed_at, execution, node)
       VALUES ($1, $1, 1, $2, $3, $4, $4, now(), $5, $6)`,
      [world.id('inv'), state, shop.project.id, prompt, execution, node],
    )
  expect(await reads.usage({ execution })).toEqual({ promptTokens: 12, completionTokens: 12 })
})
