import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { chain, flowTest, linesOf, newKey, PROGRESS, recordOf } from '../../../flow-stack.fixture.ts'
import { errorOf, newPrompt, openCalls } from '../../../stack.fixture.ts'

// The gateway has ten permits; one project can hold eight. On a stop, open calls get a second to end.

const ALONE = 8
const test = flowTest
  .extend('settings', { scope: 'file' }, () => ({ gateway: { MAX_CONCURRENT_CALLS: '10', DRAIN_MS: '2000' } }))
  .extend('held', async ({ stack, tenant, flows, fixture }, { onCleanup }) => {
    const sandbox = await flows.save(chain(tenant.model))
    expect((await flows.invoke(sandbox, { text: newPrompt() })).status).toBe(200) // the gateway learns the project
    const text = newPrompt()
    await stack.provider.control.setFaults([{ prompt: text, hold: true }])
    const release = () => stack.provider.control.release()
    onCleanup(async () => void (await release()))
    /** Resolves when all executions of the project have ended. */
    async function ended(): Promise<void> {
      for (;;) {
        const { rowCount } = await fixture.run(
          'SELECT FROM money.executions WHERE project = $1 AND completed_at IS NULL',
          [tenant.project],
        )
        if (rowCount === 0) return
      }
    }
    return {
      sandbox,
      text,
      release,
      ended,
      called: (count: number) => stack.provider.control.waitForCalls(count, { prompt: text }),
    }
  })

describe('waiting invocations', () => {
  test('use the permits of their project; further requests get 503 and start nothing [overloaded]', async ({
    tenant,
    flows,
    held,
  }) => {
    const { sandbox, text } = held
    const waiting = Array.from({ length: ALONE }, (_, n) =>
      flows.invoke(sandbox, { text }, n % 2 === 0 ? {} : { headers: PROGRESS }),
    )
    await held.called(ALONE)
    const executions = await flows.executions()
    for (const refused of [
      flows.invoke(sandbox, { text }),
      tenant.chat(),
      tenant.chat({ model: sandbox }),
      flows.get('/v1/executions/exe_1'),
      flows.get('/v1/assets/ast_1'),
      flows.upload(Buffer.from('x'), 'image/png'),
    ]) {
      const answer = await refused
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(await errorOf(answer)).toMatchObject({ code: 'overloaded' })
    }
    expect(await flows.executions()).toBe(executions)
    await held.release()
    for (const answer of waiting) expect((await answer).status).toBe(200)
  })

  test('release their permits if their callers disconnect, while their executions keep running', async ({
    tenant,
    flows,
    held,
  }) => {
    const callers = Array.from({ length: ALONE }, () => new AbortController())
    const left = callers.map(({ signal }, n) =>
      flows
        .invoke(held.sandbox, { text: held.text }, n % 2 === 0 ? { signal } : { signal, headers: PROGRESS })
        .then((answer) => answer.text()),
    )
    await held.called(ALONE)
    for (const caller of callers) caller.abort()
    for (const one of left) await expect(one).rejects.toThrow()
    while ((await openCalls(tenant.metricsUrl)) > 0) continue
    expect((await tenant.chat()).status).toBe(200)
    await held.release()
    await held.ended()
  })
})

// Must stay last: it stops the gateway that the tests of this file share.
test('a stopping gateway ends streams after a complete line and other calls with a retryable error, while executions keep running [idempotency_in_progress, unavailable]', async ({
  stack,
  tenant,
  flows,
  held,
  fixture,
}) => {
  const { sandbox, text } = held
  const headers = { 'idempotency-key': newKey() }
  const asked = [
    flows.invoke(sandbox, { text }, { headers }),
    flows.invoke(sandbox, { text }, { headers: PROGRESS }),
    tenant.chat({ model: sandbox, messages: [{ role: 'user', content: text }] }),
  ]
  await held.called(3)
  const [gateway] = stack.gateways
  const stopped = gateway!.stop()
  const [json, progress, chat] = (await Promise.all(asked)) as [Response, Response, Response]

  expect([json.status, (await errorOf(json))['code']]).toEqual([409, 'idempotency_in_progress'])
  expect(json.headers.get('retry-after')).toMatch(/^\d+$/)
  const begun = json.headers.get('x-service-invocation')
  const said = await progress.text()
  expect(said.endsWith('\n')).toBe(true)
  expect(linesOf(said).map(({ kind }) => kind)).toEqual(['admitted', 'node'])
  expect(chat.status).toBe(503)
  expect(chat.headers.get('x-should-retry')).toBe('false')
  const unkeyed = chat.headers.get('x-service-invocation')
  expect(await errorOf(chat)).toMatchObject({
    code: 'unavailable',
    resolution: expect.stringContaining(`/v1/executions/${unkeyed}`) as string,
  })
  await stopped
  expect(readFileSync(gateway!.logFile, 'utf8')).toContain('"clean":true')

  await held.release()
  await held.ended()
  const { rows } = await fixture.run('SELECT status FROM money.executions WHERE id = ANY ($1)', [[begun, unkeyed]])
  expect(rows).toEqual([{ status: 'Succeeded' }, { status: 'Succeeded' }])

  await gateway!.start()
  const again = await fetch(`${gateway!.url}/v1/sandbox/${sandbox}/invoke`, {
    method: 'POST',
    headers: { ...tenant.headers, ...headers, accept: 'application/json' },
    body: JSON.stringify({ input: { text } }),
  })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(await recordOf(again)).toMatchObject({ id: begun, status: 'Succeeded' })
})
