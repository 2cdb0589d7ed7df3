import { once } from 'node:events'
import { describe, expect } from 'vitest'
import { errorOf, houseTest, newPrompt, openCalls } from './house.fixture.ts'

// A house of ten places: a project alone may take eight, and leaves two for whoever comes.

const ALONE = 8
const test = houseTest.extend('busy', async ({ shop, house }, { onCleanup }) => {
  await (await shop.chat()).text() // from here on the gateway knows the project of the key
  const content = newPrompt()
  await house.origin.control.setFaults([{ prompt: content, hold: true }])
  onCleanup(async () => void (await house.origin.control.release()))
  const messages = [{ role: 'user', content }]
  const callers = Array.from({ length: ALONE }, () => new AbortController())
  const calls = callers.map(({ signal }) => shop.chat({ messages, stream: true }, { signal }))
  await house.origin.control.waitForCalls(ALONE, { prompt: content })
  return { calls, callers, messages, content }
})
test.override('environment', { CALLS_AT_ONCE: '10' })

async function expectOverloaded(answer: Response): Promise<void> {
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
  expect(await errorOf(answer)).toMatchObject({ code: 'overloaded', resolution: expect.stringMatching(/Retry-After/) })
}

describe('a project that has taken its part', () => {
  test('is refused one more call, for which nothing is reserved [overloaded]', async ({ shop, busy, house }) => {
    const { reserved } = await shop.wallet()
    await expectOverloaded(await shop.chat())
    expect((await shop.wallet()).reserved).toBe(reserved)
    await house.origin.control.release()
    for (const call of busy.calls) expect(await (await call).text()).toContain('[DONE]')
    expect((await shop.chat()).status).toBe(200)
  })

  test('is refused by each of its keys, and asks in vain what it can call [overloaded]', async ({ shop, busy }) => {
    expect(busy.calls).toHaveLength(ALONE)
    const models = await fetch(`${shop.url}/v1/models`, { headers: shop.headers })
    await expectOverloaded(models)
  })

  test('does not hinder another project', async ({ shop, busy, world }) => {
    expect(busy.calls).toHaveLength(ALONE)
    const project = await world.project(shop.owners, 1_000_000n)
    await world.assign(project.id, shop.model)
    const { secret } = await world.key({ project, by: shop.owners.owner })
    const headers = { authorization: `Bearer ${secret}` }
    for (let n = 0; n < 20; n++) expect((await shop.chat({}, { headers })).status).toBe(200)
  })

  test('keeps the places of callers who have gone until their calls have ended [overloaded]', async ({
    shop,
    busy,
    house,
  }) => {
    for (const caller of busy.callers) caller.abort()
    for (const call of busy.calls) await expect(call).rejects.toThrow()
    await expectOverloaded(await shop.chat())
    await house.origin.control.release()
    while ((await openCalls(shop.url)) > 0) continue // a place is free once its call has ended, which is after its settlement
    expect((await shop.chat()).status).toBe(200)
  })
})

describe('whoever waits for a running call', () => {
  test('has a place of his project [overloaded]', async ({ shop, house }) => {
    await (await shop.chat()).text()
    const content = newPrompt()
    await house.origin.control.setFaults([{ prompt: content, hold: true }])
    const headers = { 'idempotency-key': newPrompt() }
    const ask = () => shop.chat({ messages: [{ role: 'user', content }] }, { headers })
    const first = ask()
    await house.origin.control.waitForCalls(1, { prompt: content })
    const more = Array.from({ length: 20 }, ask)
    const refused = await firstOf(more, 20 - (ALONE - 1))
    for (const answer of refused) await expectOverloaded(answer)
    await house.origin.control.release()
    const served = (await Promise.all([first, ...more])).filter(({ status }) => status === 200)
    expect(served).toHaveLength(ALONE)
    expect(await house.origin.control.countCalls({ prompt: content })).toBe(1)
  })
})

/** The first so many to be answered. */
async function firstOf(answers: Promise<Response>[], count: number): Promise<Response[]> {
  const arrived: Response[] = []
  const bell = new EventTarget()
  const enough = once(bell, 'enough')
  for (const answer of answers)
    void answer.then((one) => {
      if (arrived.push(one) === count) bell.dispatchEvent(new Event('enough'))
    })
  await enough
  return arrived.slice(0, count)
}
