import { once } from 'node:events'
import { describe, expect } from 'vitest'
import { errorOf, stackTest, newPrompt, openCalls } from '../stack.fixture.ts'

// The gateway has ten permits. A single project can hold eight of them; two are left for other projects.

const ALONE = 8
const test = stackTest
  .extend('settings', { scope: 'file' }, () => ({ gateway: { MAX_CONCURRENT_CALLS: '10' } }))
  .extend('busy', async ({ tenant, stack }, { onCleanup }) => {
    await (await tenant.chat()).text() // after this call the gateway knows the key's project
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, hold: true }])
    onCleanup(async () => void (await stack.provider.control.release()))
    const messages = [{ role: 'user', content }]
    const callers = Array.from({ length: ALONE }, () => new AbortController())
    const calls = callers.map(({ signal }) => tenant.chat({ messages, stream: true }, { signal }))
    await stack.provider.control.waitForCalls(ALONE, { prompt: content })
    return { calls, callers, messages, content }
  })

async function expectOverloaded(answer: Response): Promise<void> {
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
  expect(await errorOf(answer)).toMatchObject({ code: 'overloaded', resolution: expect.stringMatching(/Retry-After/) })
}

describe('a project that uses its whole share of permits', () => {
  test('gets 503 for the next call, which reserves nothing [overloaded]', async ({ tenant, busy, stack }) => {
    const { reserved } = await tenant.wallet()
    await expectOverloaded(await tenant.chat())
    expect((await tenant.wallet()).reserved).toBe(reserved)
    await stack.provider.control.release()
    for (const call of busy.calls) expect(await (await call).text()).toContain('[DONE]')
    expect((await tenant.chat()).status).toBe(200)
  })

  test('gets 503 for GET /v1/models too [overloaded]', async ({ tenant, busy }) => {
    expect(busy.calls).toHaveLength(ALONE)
    const models = await fetch(`${tenant.url}/v1/models`, { headers: tenant.headers })
    await expectOverloaded(models)
  })

  test('leaves permits for another project', async ({ tenant, busy, fixture }) => {
    expect(busy.calls).toHaveLength(ALONE)
    const project = await fixture.project(tenant.owners, 1_000_000n)
    await fixture.assign(project.id, tenant.model)
    const { secret } = await fixture.key({ project, by: tenant.owners.owner })
    const headers = { authorization: `Bearer ${secret}` }
    for (let n = 0; n < 20; n++) expect((await tenant.chat({}, { headers })).status).toBe(200)
  })

  test('keeps the permits of disconnected callers until their calls end [overloaded]', async ({
    tenant,
    busy,
    stack,
  }) => {
    for (const caller of busy.callers) caller.abort()
    for (const call of busy.calls) await expect(call).rejects.toThrow()
    await expectOverloaded(await tenant.chat())
    await stack.provider.control.release()
    while ((await openCalls(tenant.metricsUrl)) > 0) continue // a permit is released once its call has ended, which is after its settlement
    expect((await tenant.chat()).status).toBe(200)
  })
})

describe('a repeat that waits for the running call', () => {
  test('uses a permit of its project [overloaded]', async ({ tenant, stack }) => {
    await (await tenant.chat()).text()
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, hold: true }])
    const headers = { 'idempotency-key': newPrompt() }
    const ask = () => tenant.chat({ messages: [{ role: 'user', content }] }, { headers })
    const first = ask()
    await stack.provider.control.waitForCalls(1, { prompt: content })
    const more = Array.from({ length: 20 }, ask)
    const refused = await firstOf(more, 20 - (ALONE - 1))
    for (const answer of refused) await expectOverloaded(answer)
    await stack.provider.control.release()
    const served = (await Promise.all([first, ...more])).filter(({ status }) => status === 200)
    expect(served).toHaveLength(ALONE)
    expect(await stack.provider.control.countCalls({ prompt: content })).toBe(1)
  })
})

/** Returns the first `count` responses to arrive. */
async function firstOf(answers: Promise<Response>[], count: number): Promise<Response[]> {
  const arrived: Response[] = []
  const notifier = new EventTarget()
  const enough = once(notifier, 'enough')
  for (const answer of answers)
    void answer.then((one) => {
      if (arrived.push(one) === count) notifier.dispatchEvent(new Event('enough'))
    })
  await enough
  return arrived.slice(0, count)
}
