import { createHash } from 'node:crypto'
import { describe, expect } from 'vitest'
import { modelEntry } from '@gateway/contracts/model-entry'
import type { ContractSide } from '@gateway/contracts/graph'
import { openTenant, test as tenantTest } from '../fixtures/ledger-test.ts'
import { recordAsset, readAsset } from '../assets/assets.ts'
import { readModels } from './read-models.ts'
import { readSandbox } from './read-sandbox.ts'
import { readUsage } from '../executions/records/read-usage.ts'

const TEXT: ContractSide = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

interface Saved {
  chat?: boolean
  active?: boolean
  suspended?: boolean
  mcp?: boolean
  manifest?: string[]
}

const test = tenantTest
  .extend('reads', ({ replica }) => ({
    models: readModels(replica.reads),
    sandbox: readSandbox(replica.reads),
    recordAsset: recordAsset(replica.reads),
    asset: readAsset(replica.reads),
    usage: readUsage(replica.reads),
  }))
  .extend(
    'save',
    async ({ fixture, tenant }) =>
      async (saved: Saved = {}, project = tenant.project.id): Promise<string> => {
        const { chat = true, active = true, suspended = false, mcp = false, manifest = [tenant.product] } = saved
        const id = fixture.id('sbx').replace('_', '-')
        const flow = Buffer.from(JSON.stringify({ runnerVersion: '1', graph: {}, input: TEXT, output: TEXT, manifest }))
        const digest = createHash('sha256').update(id).digest('hex')
        await fixture.run(
          `INSERT INTO control.sandboxes (id, project, name, description, mcp_enabled, latest_revision, created_by)
       VALUES ($1, $2, 'Summaries', 'Makes them', $3, 2, $4)`,
          [id, project, mcp, tenant.owners.owner],
        )
        await fixture.run(
          `INSERT INTO control.revisions (sandbox, number, draft, graph, problems, digest, package, manifest, chat_input, chat_output, created_by)
       VALUES ($1, 2, false, '{}', '[]', $2, $3, $4, $5, $5, $6)`,
          [id, digest, flow, manifest, chat ? 'text' : null, tenant.owners.owner],
        )
        if (active)
          await fixture.run(
            `UPDATE control.sandboxes SET active_revision = 2, activated_at = '2026-11-20T12:00:00Z', suspended = $2 WHERE id = $1`,
            [id, suspended],
          )
        return id
      },
  )

const asked = (hash: string) => ({ keyHash: hash, selector: null })
const idsIn = (answer: Awaited<ReturnType<ReturnType<typeof readModels>>>) =>
  'entries' in answer ? answer.entries.map(({ id }) => id) : answer.refused.code

describe('the models of a key', () => {
  test('hold the active chat-compatible flows of its project, as the specification shapes them', async ({
    tenant,
    save,
    reads,
  }) => {
    const sandbox = await save()
    for (const not of [{ chat: false }, { active: false }, { suspended: true }]) await save(not)
    const answer = await reads.models(asked(tenant.key.hash))
    expect(idsIn(answer)).toEqual([tenant.product, sandbox])
    const entry = modelEntry.parse('entries' in answer && answer.entries[1])
    expect(entry).toMatchObject({
      created: Date.UTC(2026, 10, 20, 12) / 1000,
      owned_by: tenant.project.id, // the project's name, which in these worlds is its id
      modality: 'text->text',
      context_length: 65_536,
      supported_parameters: ['stream', 'stream_options'],
      pricing: { unit: 'execution', prompt: '0', completion: '0', request: '0' },
      service: { kind: 'sandbox', revision: 2, invoke: `/v1/sandbox/${sandbox}/invoke` },
    })
  })

  test('of a listed key hold a flow only where the flow and its whole manifest are listed', async ({
    fixture,
    tenant,
    save,
    reads,
  }) => {
    const [sandbox, free] = [await save(), await save({ manifest: [] })]
    const seenWith = async (...resources: string[]) => {
      const key = await fixture.key({ project: tenant.project, by: tenant.owners.owner, policy: 'listed', resources })
      return idsIn(await reads.models(asked(key.hash)))
    }
    expect(await seenWith(sandbox)).toEqual([])
    expect(await seenWith(tenant.product)).toEqual([tenant.product])
    expect(await seenWith(sandbox, free, tenant.product)).toEqual([tenant.product, ...[sandbox, free].toSorted()])
    expect(await seenWith(free)).toEqual([free])
  })

  test('hold no flow of another project of the same organization', async ({ fixture, tenant, save, reads }) => {
    const other = await fixture.project(tenant.owners)
    await save({}, other.id)
    expect(idsIn(await reads.models(asked(tenant.key.hash)))).toEqual([tenant.product])
  })
})

describe('a sandbox product, to a key', () => {
  test('is its contract and whether it may be called over MCP', async ({ tenant, save, reads }) => {
    const sandbox = await save({ mcp: true })
    const ask = () => reads.sandbox({ caller: asked(tenant.key.hash), sandbox })
    const first = await ask()
    expect(first).toEqual({
      sandbox: {
        id: sandbox,
        name: 'Summaries',
        description: 'Makes them',
        project: tenant.project.id,
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
    fixture,
    tenant,
    save,
    reads,
  }) => {
    const [own, asleep, draft] = [await save(), await save({ suspended: true }), await save({ active: false })]
    const others = await save({}, (await openTenant(fixture)).project.id)
    const listing = async (...resources: string[]) =>
      fixture.key({ project: tenant.project, by: tenant.owners.owner, policy: 'listed', resources })
    const ask = async (sandbox: string, hash: string, selector: string | null = null) => {
      const answer = await reads.sandbox({ caller: { keyHash: hash, selector }, sandbox })
      return 'refused' in answer ? answer.refused : null
    }
    const { hash } = tenant.key
    expect(await ask(others, 'f'.repeat(64))).toMatchObject({ code: 'key_invalid' })
    expect(await ask(others, hash, 'prj_other')).toMatchObject({ code: 'project_mismatch' })
    for (const not of [others, 'sbx-never'])
      expect(await ask(not, hash)).toEqual({ code: 'sandbox_not_found', facts: { sandbox: not } })
    expect(await ask(own, (await listing(own)).hash)).toEqual({
      code: 'key_scope',
      facts: { resource: tenant.product },
    })
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
    fixture,
    tenant,
    reads,
  }) => {
    const id = fixture.id('ast')
    const record = { id, caller: asked(tenant.key.hash), mimeType: 'image/png' as const, bytes: 12 }
    for (let n = 0; n < 2; n++)
      expect(await reads.recordAsset(record)).toEqual({ recorded: true, project: tenant.project.id })
    await expect(reads.recordAsset({ ...record, bytes: 13 })).rejects.toThrow('another one')

    const own = { asset: { id, project: tenant.project.id, mimeType: 'image/png', bytes: 12 } }
    expect(await reads.asset({ caller: asked(tenant.key.hash), asset: id })).toEqual(own)
    expect(await reads.asset({ caller: { project: tenant.project.id }, asset: id })).toEqual(own)
    const stranger = (await openTenant(fixture)).key.hash
    for (const asset of [id, 'ast_never'])
      expect(await reads.asset({ caller: asked(stranger), asset })).toEqual({
        refused: { code: 'asset_not_found', facts: { asset } },
      })
  })

  test('is recorded for a run of that project only [execution_not_found, key_invalid]', async ({
    fixture,
    tenant,
    save,
    reads,
  }) => {
    const [sandbox, execution] = [await save(), fixture.id('exe')]
    await fixture.run(
      `INSERT INTO money.executions (id, project, sandbox, revision, person, surface, status, created_at, deadline_at)
       VALUES ($1, $2, $3, 2, $4, 'invoke', 'Running', now(), now())`,
      [execution, tenant.project.id, sandbox, tenant.owners.owner],
    )
    const record = { id: fixture.id('ast'), mimeType: 'audio/wav' as const, bytes: 9 }
    const stranger = (await openTenant(fixture)).project.id
    for (const caller of [
      { project: stranger, execution },
      { project: tenant.project.id, execution: 'exe_never' },
    ])
      expect(await reads.recordAsset({ ...record, caller })).toMatchObject({
        refused: { code: 'execution_not_found' },
      })
    expect(await reads.recordAsset({ ...record, caller: asked('f'.repeat(64)) })).toMatchObject({
      refused: { code: 'key_invalid' },
    })
    const caller = { project: tenant.project.id, execution }
    expect(await reads.recordAsset({ ...record, caller })).toEqual({ recorded: true, project: tenant.project.id })
  })
})

test('the usage of a run is that of its settled calls', async ({ fixture, tenant, reads }) => {
  const execution = fixture.id('exe')
  expect(await reads.usage({ execution })).toEqual({ promptTokens: 0, completionTokens: 0 })
  for (const [node, state, prompt] of [
    ['a', 'Settled', 5],
    ['b', 'Settled', 7],
    ['c', 'Released', null],
  ])
    await fixture.run(
      `INSERT INTO money.attempts (id, invocation, attempt, state, project, prompt_tokens, completion_tokens, closed_at, execution, node)
       VALUES ($1, $1, 1, $2, $3, $4, $4, now(), $5, $6)`,
      [fixture.id('inv'), state, tenant.project.id, prompt, execution, node],
    )
  expect(await reads.usage({ execution })).toEqual({ promptTokens: 12, completionTokens: 12 })
})
