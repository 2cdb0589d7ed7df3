import { modelEntry, modelList } from '@gateway/contracts/model-entry'
import { describe, expect } from 'vitest'
import { errorOf, stackTest as test } from '../../stack.fixture.ts'

describe('the models of a key', () => {
  test('are those that its project can call now, with both kinds of price', async ({ tenant }) => {
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

  test('may be none, which is an answer', async ({ tenant, fixture }) => {
    const project = await fixture.project(tenant.owners)
    const { secret } = await fixture.key({ project, by: tenant.owners.owner })
    const answer = await fetch(`${tenant.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
    expect(await answer.json()).toEqual({ object: 'list', data: [] })
  })

  test('can be asked for one by one, with the slash of the id encoded or not', async ({ tenant }) => {
    for (const id of [tenant.model, encodeURIComponent(tenant.model)]) {
      const answer = await fetch(`${tenant.url}/v1/models/${id}`, { headers: tenant.headers })
      expect(modelEntry.parse(await answer.json()).id).toBe(tenant.model)
    }
  })

  test('are not told of what the project cannot call [model_not_found]', async ({ tenant }) => {
    for (const id of ['acme/none', await tenant.sell({ state: 'suspended' })]) {
      const answer = await fetch(`${tenant.url}/v1/models/${id}`, { headers: tenant.headers })
      expect(answer.status).toBe(404)
      expect(await errorOf(answer)).toMatchObject({ code: 'model_not_found' })
    }
  })

  test('are refused as a call would be [key_invalid, project_mismatch, invalid_request]', async ({ tenant }) => {
    const ask = (path: string, headers: Record<string, string>) =>
      fetch(`${tenant.url}${path}`, { headers: { ...tenant.headers, ...headers } })
    const refusals = await Promise.all([
      ask('/v1/models', { authorization: 'Bearer svc_x' }),
      ask('/v1/models', { 'x-project-id': 'prj_other' }),
      ask('/v1/models/%E0%A4%A', {}),
    ])
    expect(await Promise.all(refusals.map(async (answer) => (await errorOf(answer))['code']))).toEqual([
      'key_invalid',
      'project_mismatch',
      'invalid_request',
    ])
  })
})

describe('the gateway', () => {
  test('says that it lives, that it is ready, and what it counts', async ({ tenant }) => {
    await (await tenant.chat()).text()
    const ask = async (path: string, url = tenant.url) => (await fetch(url + path)).text()
    expect(JSON.parse(await ask('/health/live'))).toEqual({ status: 'live' })
    expect(JSON.parse(await ask('/health/ready'))).toEqual({ status: 'ready' })
    expect(JSON.parse(await ask('/metrics'))).toMatchObject({ error: { code: 'not_found' } })
    const metrics = await ask('/metrics', tenant.metricsUrl)
    expect(metrics).toContain('gateway_reservations_closed_total{outcome="settled"')
    expect(metrics).not.toContain('simulated')
  })
})
