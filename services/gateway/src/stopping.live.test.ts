import { readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect } from 'vitest'
import { processOf } from '@gateway/testbed/test-program'
import { echo } from './flow-stack.fixture.ts'
import { bodyOf, eventsOf, stackTest, newPrompt } from './stack.fixture.ts'

// Order matters: these tests stop services that the file shares.

const test = stackTest.extend('counts', { scope: 'file' }, () => ({
  workers: 0,
  consoles: 0,
  processes: ['ledger-0'] as const,
}))

describe('shutdown', () => {
  test('a response is delivered while the ledger is down and charged once it is back', async ({ stack, tenant }) => {
    const ledger = processOf(stack.ledgers[0])
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, hold: true }])
    const asked = tenant.chat({ messages: [{ role: 'user', content }] })
    await stack.provider.control.waitForCalls(1, { prompt: content })
    await ledger.kill()
    await stack.provider.control.release()
    const { usage } = await bodyOf(await asked)
    const refused = await tenant.chat()
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await refused.json()).toMatchObject({ error: { code: 'unavailable' } })
    expect((await fetch(`${tenant.url}/health/ready`)).status).toBe(503)

    await ledger.start()
    expect(await tenant.settled()).toBe(usage.prompt_tokens + 2 * usage.completion_tokens)
  })

  test('a stopping gateway finishes an open MCP request', async ({ stack, tenant, fixture }) => {
    const [gateway] = stack.gateways
    const { id } = await fixture.sandbox({ id: tenant.project }, echo, { mcpEnabled: true })
    const headers = { ...tenant.headers, accept: 'application/json, text/event-stream', expect: '100-continue' }
    const asked = request(`${tenant.url}/v1/sandbox/${id}/mcp`, { method: 'POST', headers, agent: false })
    const answered = once(asked, 'response')
    asked.flushHeaders()
    await once(asked, 'continue') // the gateway has read the headers
    const stopped = gateway!.stop()
    await refusedConnection(tenant.url)
    asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))

    const [answer] = (await answered) as [IncomingMessage]
    expect(answer.statusCode).toBe(200)
    expect(await text(answer)).toContain('"name":"invoke_product"')
    await stopped
    await gateway!.start()
  })

  test('a stopping gateway accepts no connections, finishes and settles open calls, and leaves nothing reserved', async ({
    stack,
    tenant,
    fixture,
  }) => {
    const [gateway] = stack.gateways
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, hold: true }])
    const asked = tenant.chat({ stream: true, messages: [{ role: 'user', content }] })
    await stack.provider.control.waitForCalls(1, { prompt: content })
    const stopped = gateway!.stop()
    await refusedConnection(tenant.url)
    await stack.provider.control.release()

    expect(eventsOf(await (await asked).text()).done).toBe(true)
    await stopped
    const { reserved, settled } = await tenant.wallet()
    expect(reserved).toBe(0)
    expect(settled).toBeGreaterThan(0)
    const { rows } = await fixture.run('SELECT count(*)::int AS alive FROM money.instances WHERE ended_at IS NULL')
    expect(rows[0].alive).toBe(0)
    expect(readFileSync(gateway!.logFile, 'utf8')).toContain('"clean":true')
  })
})

/** Resolves once connections are refused. */
async function refusedConnection(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  for (;;) {
    const socket = connect(Number(port), hostname)
    const outcome = await once(socket, 'connect').catch((error: NodeJS.ErrnoException) => error.code)
    socket.destroy()
    if (outcome === 'ECONNREFUSED') return
  }
}
