import { modelEntry, modelList } from '@gateway/api/model-entry'
import { describe, expect } from 'vitest'
import { echo } from '../../flow-stack.fixture.ts'
import { stackTest as test } from '../../stack.fixture.ts'

describe('GET /v1/models', () => {
  // spec: 1/s5, 2.2/r13, 2.2/r16, 2.2/s2, 2.2/s4, 4.1/s2, 4.1/s6, 4.1/s8, 8.3/s4
  test('lists the models that the project can call, with per-token or per-request prices', async ({ tenant }) => {
    const perRequest = await tenant.sell({ requestPico: 2_000_000_000n })
    await tenant.sell({ state: 'draft' })
    await tenant.sell({ kind: 'image' })
    const answer = await fetch(`${tenant.url}/v1/models`, { headers: tenant.headers })
    expect(answer.status).toBe(200)
    const { data } = modelList.parse(await answer.json())
    expect(data.map(({ id }) => id).toSorted()).toEqual([tenant.model, perRequest].toSorted())
    expect(data.find(({ id }) => id === perRequest)!.pricing).toEqual({
      unit: 'request',
      request: '0.002',
      usd_per_request: 0.002,
    })
    expect(data.find(({ id }) => id === tenant.model)!.pricing).toMatchObject({
      unit: 'tokens',
      prompt: '0.000001',
      completion: '0.000002',
    })
  })

  // spec: 2.2/s4, 4.1/s1, 4.1/s9
  test('returns an empty list to a project without models', async ({ tenant, fixture }) => {
    const project = await fixture.project(tenant.owners)
    const { secret } = await fixture.key({ project, by: tenant.owners.owner })
    const answer = await fetch(`${tenant.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
    expect(await answer.json()).toEqual({ object: 'list', data: [] })
  })

  // spec: 4.1/s10
  test('stays empty until a product is assigned', async ({ tenant, fixture }) => {
    const project = await fixture.project(tenant.owners)
    const { secret } = await fixture.key({ project, by: tenant.owners.owner })
    const list = async () => {
      const answer = await fetch(`${tenant.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
      return modelList.parse(await answer.json()).data.map(({ id }) => id)
    }
    expect([await list(), await list()]).toEqual([[], []])
    await fixture.assign(project.id, tenant.model)
    expect(await list()).toEqual([tenant.model])
  })

  // spec: 2.2/r2, 2.2/r3, 2.2/r4, 2.2/r5, 2.2/r6, 2.2/r7, 2.2/r8, 2.2/r9, 2.2/r10, 2.2/r11, 2.2/r12, 2.2/r13, 2.2/r14
  // spec: 2.2/r15, 2.2/s2
  test('describes a product by its stored fields', async ({ tenant, fixture }) => {
    const id = await tenant.sell({
      contextLength: 32_000,
      maxOutputTokens: 4_000,
      supportedParameters: ['stop', 'seed'],
      promptPico: 150_000n,
      completionPico: 2_500_000n,
    })
    await fixture.run(
      `UPDATE control.products SET name = 'Swift', description = 'Short answers.', owned_by = 'Acme Labs', is_moderated = true,
              input_modalities = '{text,image}', output_modalities = '{text,audio}', created_at = '2026-01-02T03:04:05.678Z'
        WHERE id = $1`,
      [id],
    )
    const answer = await fetch(`${tenant.url}/v1/models/${id}`, { headers: tenant.headers })
    expect(await answer.json()).toEqual({
      id,
      object: 'model',
      created: Date.UTC(2026, 0, 2, 3, 4, 5) / 1000,
      name: 'Swift',
      description: 'Short answers.',
      owned_by: 'Acme Labs',
      modality: 'text+image->text+audio',
      context_length: 32_000,
      max_output_tokens: 4_000,
      architecture: {
        modality: 'text+image->text+audio',
        input_modalities: ['text', 'image'],
        output_modalities: ['text', 'audio'],
      },
      top_provider: { context_length: 32_000, max_completion_tokens: 4_000, is_moderated: true },
      supported_parameters: ['stop', 'seed'],
      pricing: {
        unit: 'tokens',
        prompt: '0.00000015',
        completion: '0.0000025',
        input_usd_per_1m: 0.15,
        output_usd_per_1m: 2.5,
      },
    })
  })

  // spec: 2.1/r5, 4.1/s6, 4.2/s14, 5/s8, 7/r6
  test('includes models assigned later, except for a key with an allowlist', async ({ tenant, fixture }) => {
    const listed = await tenant.key({ policy: 'listed', resources: [tenant.model] })
    const list = async (secret: string) => {
      const answer = await fetch(`${tenant.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
      return modelList.parse(await answer.json()).data.map(({ id }) => id)
    }
    expect([await list(tenant.secret), await list(listed.secret)]).toEqual([[tenant.model], [tenant.model]])
    const later = await tenant.sell()
    const sandbox = await fixture.sandbox({ id: tenant.project }, echo)
    expect(await list(tenant.secret)).toEqual([...[tenant.model, later].toSorted(), sandbox.id])
    expect(await list(listed.secret)).toEqual([tenant.model])
    expect((await (await tenant.chat({ model: later })).json()) as object).toMatchObject({ model: later })
  })

  test('returns a single model by its ID, with the slash encoded or not', async ({ tenant }) => {
    for (const id of [tenant.model, encodeURIComponent(tenant.model)]) {
      const answer = await fetch(`${tenant.url}/v1/models/${id}`, { headers: tenant.headers })
      expect(modelEntry.parse(await answer.json()).id).toBe(tenant.model)
    }
  })
})

describe('the gateway', () => {
  test('serves liveness and readiness, and metrics only on the metrics port', async ({ tenant, stack }) => {
    await (await tenant.chat()).text()
    const ask = async (path: string, url = tenant.url) => (await fetch(url + path)).text()
    expect(JSON.parse(await ask('/health/live'))).toEqual({ status: 'live' })
    expect(JSON.parse(await ask('/health/ready'))).toEqual({ status: 'ready' })
    expect(JSON.parse(await ask('/metrics'))).toMatchObject({ error: { code: 'not_found' } })
    const metrics = await ask('/metrics', tenant.metricsUrl)
    expect(metrics).toContain('gateway_reservations_closed_total{outcome="settled"')
    expect(metrics).not.toContain(stack.provider.url)
  })
})
