import { modelEntry, modelList } from '@gateway/contracts/model-entry'
import { describe, expect } from 'vitest'
import { errorOf, houseTest as test } from './house.fixture.ts'

describe('the models of a key', () => {
  test('are those that its project can call now, with both kinds of price', async ({ shop }) => {
    const perRequest = await shop.sell({ requestPico: 2_000_000_000n })
    await shop.sell({ state: 'draft' })
    await shop.sell({ kind: 'image' })
    const answer = await fetch(`${shop.url}/v1/models`, { headers: shop.headers })
    expect(answer.status).toBe(200)
    const { data } = modelList.parse(await answer.json())
    expect(data.map(({ id }) => id).toSorted()).toEqual([shop.model, perRequest].toSorted())
    expect(data.find(({ id }) => id === perRequest)!.pricing).toEqual({
      unit: 'request',
      request: '0.002',
      usd_per_request: 0.002,
    })
    expect(data.find(({ id }) => id === shop.model)!.pricing).toMatchObject({
      unit: 'tokens',
      prompt: '0.000001',
      completion: '0.000002',
    })
  })

  test('may be none, which is an answer', async ({ shop, world }) => {
    const project = await world.project(shop.owners)
    const { secret } = await world.key({ project, by: shop.owners.owner })
    const answer = await fetch(`${shop.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
    expect(await answer.json()).toEqual({ object: 'list', data: [] })
  })

  test('can be asked for one by one, with the slash of the id encoded or not', async ({ shop }) => {
    for (const id of [shop.model, encodeURIComponent(shop.model)]) {
      const answer = await fetch(`${shop.url}/v1/models/${id}`, { headers: shop.headers })
      expect(modelEntry.parse(await answer.json()).id).toBe(shop.model)
    }
  })

  test('are not told of what the project cannot call [model_not_found]', async ({ shop }) => {
    for (const id of ['acme/none', await shop.sell({ state: 'suspended' })]) {
      const answer = await fetch(`${shop.url}/v1/models/${id}`, { headers: shop.headers })
      expect(answer.status).toBe(404)
      expect(await errorOf(answer)).toMatchObject({ code: 'model_not_found' })
    }
  })

  test('are refused as a call would be [key_invalid, project_mismatch, invalid_request]', async ({ shop }) => {
    const ask = (path: string, headers: Record<string, string>) =>
      fetch(`${shop.url}${path}`, { headers: { ...shop.headers, ...headers } })
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
  test('says that it lives, that it is ready, and what it counts', async ({ shop }) => {
    await (await shop.chat()).text()
    const ask = async (path: string) => (await fetch(shop.url + path)).text()
    expect(JSON.parse(await ask('/health/live'))).toEqual({ status: 'live' })
    expect(JSON.parse(await ask('/health/ready'))).toEqual({ status: 'ready' })
    const metrics = await ask('/metrics')
    expect(metrics).toContain('gateway_reservations_closed_total{how="settled"')
    expect(metrics).not.toContain('simulated')
  })
})
