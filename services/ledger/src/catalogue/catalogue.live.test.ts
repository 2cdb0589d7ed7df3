import { describe, expect } from 'vitest'
import { modelEntry } from '@gateway/api/model-entry'
import { openPackageCache } from '../executions/cache/load-executions.ts'
import { nameOf } from '@gateway/testbed/fixture'
import { openTenant, test as ledgerTest } from '../fixtures/ledger-test.ts'
import { chain, fan, publishProduct, TEXT } from '../fixtures/sandbox-products.ts'
import { readModels, readSandbox } from './read-models.ts'

interface Saved {
  chat?: boolean
  active?: boolean
  suspended?: boolean
  mcp?: boolean
  manifest?: string[]
}

const test = ledgerTest
  .extend('reads', ({ replica }) => {
    const deps = { ...replica, packageCache: openPackageCache(replica, { maxBytes: 1024 * 1024 }) }
    return {
      models: (question: Parameters<typeof readModels>[1]) => readModels(deps, question),
      sandbox: (question: Parameters<typeof readSandbox>[1]) => readSandbox(deps, question),
    }
  })
  .extend(
    'save',
    async ({ fixture, tenant }) =>
      async (saved: Saved = {}, project = tenant.project.id): Promise<string> => {
        const { chat = true, active = true, suspended = false, mcp = false, manifest = [tenant.product] } = saved
        const graph = manifest.length > 0 ? fan(manifest) : chain(0)
        const id = await publishProduct(fixture, project, tenant.owners.owner, { graph, activate: active, suspended })
        await fixture.run('UPDATE control.sandboxes SET mcp_enabled = $2 WHERE id = $1', [id, mcp])
        if (!chat)
          await fixture.run('UPDATE control.revisions SET chat_input = NULL, chat_output = NULL WHERE sandbox = $1', [
            id,
          ])
        if (active)
          await fixture.run(`UPDATE control.sandboxes SET activated_at = '2026-11-20T12:00:00Z' WHERE id = $1`, [id])
        return id
      },
  )

const asked = (hash: string) => ({ keyHash: hash, selector: null })
const idsIn = (answer: Awaited<ReturnType<typeof readModels>>) =>
  'entries' in answer ? answer.entries.map(({ id }) => id) : answer.refused.code

describe('the models list of a key', () => {
  // spec: 2.2/r6, 4.1/s7
  test('contains the project’s active chat-compatible flows, in the specified shape', async ({
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
      owned_by: nameOf(tenant.project.id), // the project's name, not its id
      modality: 'text->text',
      context_length: 16_384,
      max_output_tokens: 8_192,
      top_provider: { context_length: 16_384, max_completion_tokens: 8_192, is_moderated: false },
      supported_parameters: ['stream', 'stream_options'],
      pricing: { unit: 'execution', prompt: '0', completion: '0', request: '0' },
      service: { kind: 'sandbox', revision: 1, invoke: `/v1/sandbox/${sandbox}/invoke` },
    })
  })

  test('describes a product with each catalogue value in its field', async ({ fixture, tenant, reads }) => {
    const product = await fixture.product({
      promptPico: 150_000n,
      completionPico: 600_000n,
      supportedParameters: ['seed'],
    })
    await fixture.run(
      `UPDATE control.products SET name = 'Swift', description = 'Answers fast', owned_by = 'Acme Labs', context_length = 32000,
         max_output_tokens = 4000, input_modalities = '{text,image}', output_modalities = '{text}', is_moderated = true,
         created_at = '2026-11-20T12:00:00Z' WHERE id = $1`,
      [product],
    )
    await fixture.assign(tenant.project.id, product)
    const answer = await reads.models(asked(tenant.key.hash))
    const entry = 'entries' in answer && answer.entries.find(({ id }) => id === product)
    expect(entry).toEqual({
      id: product,
      object: 'model',
      created: Date.UTC(2026, 10, 20, 12) / 1000,
      name: 'Swift',
      description: 'Answers fast',
      owned_by: 'Acme Labs',
      modality: 'text+image->text',
      context_length: 32_000,
      max_output_tokens: 4_000,
      architecture: { modality: 'text+image->text', input_modalities: ['text', 'image'], output_modalities: ['text'] },
      top_provider: { context_length: 32_000, max_completion_tokens: 4_000, is_moderated: true },
      supported_parameters: ['seed'],
      pricing: {
        unit: 'tokens',
        prompt: '0.00000015',
        completion: '0.0000006',
        input_usd_per_1m: 0.15,
        output_usd_per_1m: 0.6,
      },
    })
    const priced = await fixture.product({ requestPico: 2_000_000_000n })
    await fixture.assign(tenant.project.id, priced)
    const again = await reads.models(asked(tenant.key.hash))
    expect('entries' in again && again.entries.find(({ id }) => id === priced)!.pricing).toEqual({
      unit: 'request',
      request: '0.002',
      usd_per_request: 0.002,
    })
  })

  test('states a product’s token limits and the price of each kind of token', async ({ fixture, tenant, reads }) => {
    const price = {
      promptPico: 2_000_000n,
      completionPico: 8_000_000n,
      cachedPico: 200_000n,
      cacheWritePico: 4_000_000n,
      reasoningPico: 5_000_000n,
    }
    const product = await fixture.product({ ...price, contextLength: 40_000, maxOutputTokens: 4_000 })
    await fixture.assign(tenant.project.id, product)
    const answer = await reads.models(asked(tenant.key.hash))
    const entry = 'entries' in answer && answer.entries.find(({ id }) => id === product)
    expect(modelEntry.parse(entry)).toMatchObject({
      context_length: 40_000,
      max_output_tokens: 4_000,
      top_provider: { context_length: 40_000, max_completion_tokens: 4_000 },
      pricing: {
        unit: 'tokens',
        prompt: '0.000002',
        completion: '0.000008',
        input_cache_read: '0.0000002',
        input_cache_write: '0.000004',
        internal_reasoning: '0.000005',
        input_usd_per_1m: 2,
        output_usd_per_1m: 8,
      },
    })
    await fixture.run('DELETE FROM control.assignments WHERE product = $1', [product])
  })

  test('contains a flow for a key with an allowlist only if the flow and its whole manifest are listed', async ({
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

  test('omits a flow that calls a product the project can no longer call', async ({ fixture, tenant, save, reads }) => {
    const other = await fixture.product()
    const sandbox = await save({ manifest: [tenant.product, other] })
    const seen = async () => idsIn(await reads.models(asked(tenant.key.hash)))
    expect(await seen()).toEqual([tenant.product])
    await fixture.assign(tenant.project.id, other)
    expect(await seen()).toEqual([...[tenant.product, other].toSorted(), sandbox])
    await fixture.run(`UPDATE control.products SET state = 'suspended' WHERE id = $1`, [other])
    expect(await seen()).toEqual([tenant.product])
  })

  // spec: 2.3/s2, 4.1/s4
  test('omits flows of other projects of the same organization', async ({ fixture, tenant, save, reads }) => {
    const other = await fixture.project(tenant.owners)
    await save({}, other.id)
    expect(idsIn(await reads.models(asked(tenant.key.hash)))).toEqual([tenant.product])
  })
})

describe('reading a sandbox product with a key', () => {
  test('returns its contract and whether it is enabled for MCP', async ({ tenant, save, reads }) => {
    const sandbox = await save({ mcp: true })
    const ask = () => reads.sandbox({ caller: asked(tenant.key.hash), sandbox })
    const first = await ask()
    expect(first).toEqual({
      sandbox: {
        id: sandbox,
        name: 'A flow',
        description: '',
        project: tenant.project.id,
        mcpEnabled: true,
        suspended: false,
        revision: 1,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        input: { ...TEXT, additionalProperties: false },
        output: { ...TEXT, additionalProperties: false },
        unassigned: null,
        unlisted: null,
      },
    })
    expect(await ask()).toEqual(first)
  })

  test('is refused in the specified order of checks [key_invalid, project_mismatch, sandbox_not_found, key_scope]', async ({
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
    const needed = await reads.sandbox({ caller: asked((await listing(own)).hash), sandbox: own })
    expect(needed).toMatchObject({ sandbox: { revision: 1, unlisted: tenant.product } }) // a repeat may not need it
    expect(await ask(own, (await listing(tenant.product)).hash)).toEqual({
      code: 'key_scope',
      facts: { resource: own },
    })
    expect(await ask(draft, (await listing()).hash)).toEqual({ code: 'key_scope', facts: { resource: draft } })
    expect(await ask(asleep, hash)).toBeNull() // its earlier runs stay readable
    expect(await ask(draft, hash)).toBeNull() // it has no contract; callers that need one refuse it
  })

  test('returns no contract if no revision was ever activated, and names a product it cannot call', async ({
    fixture,
    tenant,
    save,
    reads,
  }) => {
    const ask = (sandbox: string) => reads.sandbox({ caller: asked(tenant.key.hash), sandbox })
    expect(await ask(await save({ active: false, mcp: true }))).toMatchObject({
      sandbox: { mcpEnabled: true, suspended: false, revision: null },
    })
    const gone = await fixture.product()
    expect(await ask(await save({ manifest: [tenant.product, gone] }))).toMatchObject({
      sandbox: { revision: 1, unassigned: gone },
    })
  })
})
