import { describe, expect } from 'vitest'
import { tracesOfTheOrigin } from '@gateway/simulated-origin/origin-traces'
import type { FaultRule } from '@gateway/simulated-origin/fault-rule'
import { chat, type House, type Shop } from './src/house.ts'
import { houseTest as test } from './src/house-test.ts'

// No answer says who stands behind a model, or what the house pays for it; nothing that is not published is listed.

/** Every byte of an answer: status line facts, headers and body. */
async function everyByte(answer: Response): Promise<string> {
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  return `${answer.status}\n${headers}\n\n${await answer.text()}`
}

function expectNoTrace(house: House, text: string): void {
  const address = new URL(house.origin.url)
  for (const trace of [
    ...tracesOfTheOrigin,
    'simulated',
    address.host,
    address.port,
    'undici',
    'ECONN',
    '"sim"',
    'x-powered-by',
    'wholesale',
  ]) {
    expect(text.toLowerCase(), `an answer shows ${trace}`).not.toContain(trace.toLowerCase())
  }
}

const faults: [what: string, fault: FaultRule | null][] = [
  ['a good answer', null],
  [
    'an error of the origin',
    { status: 500, body: { error: { message: 'simulated-origin at 127.0.0.1 broke', provider: 'SimulatedProvider' } } },
  ],
  [
    'a refusal of the origin',
    { status: 400, body: { error: { message: 'SimulatedProvider says no', type: 'invalid_request_error' } } },
  ],
  ['a wrong key of the origin', { status: 401, body: 'req_sim unauthorized' }],
  ['too many requests', { status: 429, retryAfter: 1 }],
  ['garbage', { garbage: 'before-first-byte' }],
  ['a cut connection', { cut: 'before-first-byte' }],
  ['a cut stream', { cut: { afterChunk: 2 } }],
  ['an error in the stream', { errorEvent: { afterChunk: 2 } }],
  ['a wrong type', { contentType: 'text/html' }],
  ['no usage', { missingUsage: true }],
  ['too much usage', { usageFactor: 1000 }],
]

describe('no answer shows the origin', () => {
  for (const [what, fault] of faults) {
    for (const stream of [false, true]) {
      test(`${what}${stream ? ', streamed' : ''}`, async ({ house }) => {
        const shop: Shop = await house.shop(10_000_000n)
        const prompt = `Leak ${shop.project.id}`
        if (fault) await house.origin.control.setFaults([{ ...fault, prompt }])
        const answer = await chat(house, shop, { body: { stream, messages: [{ role: 'user', content: prompt }] } })
        expectNoTrace(house, await everyByte(answer))
        await house.origin.control.clearFaults()
        await house.untilNothingIsHeld(shop.project.id, 5_000)
        expect(await house.findings([shop.project.id])).toEqual([])
      })
    }
  }
})

describe('the model list', () => {
  test('shows published, assigned chat products and nothing else', async ({ house }) => {
    const { world } = house
    const shop = await house.shop(1_000n)
    const [draft, suspended, image, unassigned] = await Promise.all([
      world.product({ state: 'draft' }),
      world.product({ state: 'suspended' }),
      world.product({ kind: 'image', requestPico: 1_000_000n }),
      world.product(),
    ])
    await world.assign(shop.project.id, draft, suspended, image)
    const perRequest = await world.product({ requestPico: 2_000_000_000n })
    await world.assign(shop.project.id, perRequest)
    const answer = await fetch(`${house.gateways[0]!.url}/v1/models`, {
      headers: { authorization: `Bearer ${shop.key.secret}` },
    })
    const text = await everyByte(answer.clone())
    expectNoTrace(house, text)
    for (const id of [draft, suspended, image, unassigned]) expect(text).not.toContain(id)
    const { object, data } = (await answer.json()) as { object: string; data: { id: string; pricing: unknown }[] }
    expect(object).toBe('list')
    expect(data.map(({ id }) => id).toSorted()).toEqual([shop.model, perRequest].toSorted())
    expect(data.find(({ id }) => id === perRequest)!.pricing).toEqual({
      unit: 'request',
      request: '0.002',
      usd_per_request: 0.002,
    })
    for (const model of [draft, suspended, image, unassigned]) {
      const refused = await chat(house, { ...shop, model })
      expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
        404,
        'model_not_found',
      ])
    }
  })

  test('of a listed key is its allowlist [key_scope]', async ({ house }) => {
    const shop = await house.shop(1_000_000n)
    const other = await house.world.product()
    await house.world.assign(shop.project.id, other)
    const key = await house.world.key({ project: shop.project, by: shop.owner, policy: 'listed', resources: [other] })
    const answer = await fetch(`${house.gateways[0]!.url}/v1/models`, {
      headers: { authorization: `Bearer ${key.secret}` },
    })
    expect(((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([other])
    const refused = await chat(house, { key, model: shop.model })
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      403,
      'key_scope',
    ])
  })

  test('of a project with nothing assigned is empty, and a good answer', async ({ house }) => {
    const { world } = house
    const owners = await world.tenant()
    const key = await world.key({ project: await world.project(owners), by: owners.owner })
    const answer = await fetch(`${house.gateways[0]!.url}/v1/models`, {
      headers: { authorization: `Bearer ${key.secret}` },
    })
    expect([answer.status, await answer.json()]).toEqual([200, { object: 'list', data: [] }])
  })
})
