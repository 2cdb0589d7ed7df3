import { describe, expect } from 'vitest'
import type { ExecutionRecord } from '@gateway/api/execution'
import { chain, flowTest, linesOf, newKey, PROGRESS, recordOf } from '../../../flow-stack.fixture.ts'
import { errorOf, newPrompt } from '../../../stack.fixture.ts'

const test = flowTest
  /** A flow of two calls: the first succeeds, the second is held until it is aborted. */
  .extend('held', async ({ stack, tenant, flows, fixture }) => {
    const { control } = stack.provider
    const sandbox = await flows.save(chain(tenant.model, 1), { mcpEnabled: true })
    const text = newPrompt()
    const [first, second] = [{ prompt: text }, { prompt: `On "${text}"` }]
    await control.setFaults([{ ...second, hold: true }])
    const stop = (execution: string, headers: Record<string, string> = {}) =>
      fetch(`${tenant.url}/v1/sandbox/${sandbox}/executions/${execution}/cancel`, {
        method: 'POST',
        headers: { authorization: tenant.headers.authorization, ...headers },
      })
    /** Waits for the second call and returns the execution ID. */
    async function waiting(): Promise<string> {
      await control.waitForCalls(1, first)
      await control.waitForCalls(1, second)
      const open = 'SELECT id FROM money.executions WHERE sandbox = $1 AND completed_at IS NULL'
      const { rows } = await fixture.run(open, [sandbox])
      await control.clearCalls()
      return (rows as [{ id: string }])[0].id
    }
    return { sandbox, text, stop, waiting }
  })

describe('cancelling an execution', () => {
  test('aborts the running call and charges the completed one', async ({ tenant, flows, held }) => {
    const key = newKey()
    const invoke = () => flows.invoke(held.sandbox, { text: held.text }, { headers: { 'idempotency-key': key } })
    const waiter = invoke()
    const execution = await held.waiting()
    const answer = await held.stop(execution)
    expect([answer.status, answer.headers.get('x-service-invocation')]).toEqual([200, execution])
    const record = await recordOf(await waiter)
    expect(record).toMatchObject({ id: execution, status: 'Cancelled', error: { code: 'execution_cancelled' } })
    expect(record.nodes.map(({ id, status, error }) => [id, status, error?.code ?? null])).toEqual([
      ['in', 'Succeeded', null],
      ['out', 'Pending', null],
      ['step0', 'Succeeded', null],
      ['step1', 'Failed', 'execution_cancelled'],
    ])
    expect(record.chargedMicro).toBe(record.nodes[2]!.chargedMicro)
    expect(await tenant.wallet()).toEqual({ reserved: 0, settled: record.chargedMicro })
    expect(record.chargedMicro).toBeGreaterThan(0)

    expect(await recordOf(await held.stop(execution))).toEqual(record) // repeated cancels return the same record
    const replay = await invoke()
    expect([replay.headers.get('idempotent-replayed'), await recordOf(replay)]).toEqual(['true', record])
  })

  test('ends its progress streams, MCP tool calls and chats [execution_cancelled]', async ({ tenant, flows, held }) => {
    const progress = flows.invoke(held.sandbox, { text: held.text }, { headers: PROGRESS }).then((one) => one.text())
    await held.stop(await held.waiting())
    const lines = linesOf(await progress)
    expect(lines.map(({ kind, seq }) => [kind, seq])).toEqual([
      ['admitted', 0],
      ['node', 1],
      ['node', 2],
      ['node', 3],
      ['complete', 4],
    ])
    expect(lines.at(-1)).toMatchObject({ execution: { status: 'Cancelled' } })

    const tool = fetch(`${tenant.url}/v1/sandbox/${held.sandbox}/mcp`, {
      method: 'POST',
      headers: {
        ...tenant.headers,
        accept: 'application/json, text/event-stream',
        'idempotency-key': newKey(),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'invoke_product', arguments: { text: held.text } },
      }),
    }).then((answer) => answer.text())
    await held.stop(await held.waiting())
    const result = await tool
    expect(result).toContain('"isError":true')
    expect(result).toContain('execution_cancelled')

    const chat = tenant.chat({ model: held.sandbox, messages: [{ role: 'user', content: held.text }] })
    const execution = await held.waiting()
    await held.stop(execution)
    const refused = await chat
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([409, 'false'])
    expect(await errorOf(refused)).toMatchObject({
      code: 'execution_cancelled',
      details: { execution, by: 'key', chargedMicro: expect.any(Number) as number },
    })
    await tenant.settled()
  })

  test('is refused under another sandbox product [execution_not_found]', async ({ tenant, flows, held }) => {
    const waiter = flows.invoke(held.sandbox, { text: held.text })
    const execution = await held.waiting()
    const elsewhere = await flows.save(chain(tenant.model))
    const answer = await fetch(`${tenant.url}/v1/sandbox/${elsewhere}/executions/${execution}/cancel`, {
      method: 'POST',
      headers: { authorization: tenant.headers.authorization },
    })
    expect([answer.status, (await errorOf(answer))['code']]).toEqual([404, 'execution_not_found'])
    const still = (await (await flows.get(`/v1/executions/${execution}`)).json()) as ExecutionRecord
    expect([still.status, still.error]).toEqual(['Running', null])
    await held.stop(execution)
    await waiter
  })
})
