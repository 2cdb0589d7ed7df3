import { describe, expect } from 'vitest'
import { invocationRecord } from '@gateway/api/console/money'
import type { Fixture } from '@gateway/testbed/fixture'
import { eventsOf, newPrompt, stackTest as test } from '../stack.fixture.ts'

interface ReportedUsage {
  prompt_tokens: number
  completion_tokens: number
  cost?: number
  cost_micro?: number
}

const usageIn = (text: string) => (JSON.parse(text) as { usage: ReportedUsage }).usage

const chargedOf = async (fixture: Fixture, invocation: string | null) => {
  const { rows } = await fixture.run('SELECT charged_micro FROM money.attempts WHERE invocation = $1', [invocation])
  return Number(rows[0]!.charged_micro)
}

/** Reads GET /v1/invocations/{id} for a response. */
async function recordOf({ url, headers }: { url: string; headers: Record<string, string> }, answer: Response) {
  const id = answer.headers.get('x-service-invocation')!
  const record = await fetch(`${url}/v1/invocations/${id}`, { headers })
  expect([record.status, record.headers.get('x-service-invocation')]).toEqual([200, id])
  expect(record.headers.get('cache-control')).toBe('private, no-store')
  return invocationRecord.parse(await record.json())
}

/** Releases the reservations of a project, as happens after its instance dies. */
const releaseAll = (fixture: Fixture, project: string) =>
  fixture.run(
    `SELECT money.close_batch(false, ARRAY[$1], now(), NULL, ARRAY(
       SELECT jsonb_populate_record(NULL::money.closing, jsonb_build_object('id', id, 'op', 'release', 'reason', 'test'))
         FROM money.reservations WHERE project = $1))`,
    [project],
  )

describe('the cost in a response', () => {
  test('is the charged amount to the micro-USD, and the same on a replay', async ({ tenant, fixture }) => {
    const model = await tenant.sell({ promptPico: 150_000n, completionPico: 600_000n })
    for (const stream of [false, true]) {
      const content = newPrompt()
      const fields = { model, messages: [{ role: 'user', content }], stream, stream_options: { include_usage: true } }
      const ask = () => tenant.chat(fields, { headers: { 'idempotency-key': `key-${content}` } })
      const first = await ask()
      const text = await first.text()
      const usage = stream ? (eventsOf(text).chunks.at(-1)!.usage as ReportedUsage) : usageIn(text)
      const charged = await chargedOf(fixture, first.headers.get('x-service-invocation'))
      expect(charged).toBeGreaterThan(0)
      expect(usage).toMatchObject({ cost: charged / 1_000_000, cost_micro: charged })
      expect(await recordOf(tenant, first)).toMatchObject({ state: 'Settled', chargedMicro: charged })
      const again = await ask()
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      expect(await again.text()).toBe(text)
    }
  })

  test('is the charged amount, not the cost of the usage, if the provider reports more than was reserved', async ({
    stack,
    tenant,
    fixture,
  }) => {
    const content = newPrompt()
    await stack.provider.control.setFaults([{ prompt: content, usageFactor: 1_000 }])
    const answer = await tenant.chat({ messages: [{ role: 'user', content }], max_tokens: 20 })
    const usage = usageIn(await answer.text())
    const charged = await chargedOf(fixture, answer.headers.get('x-service-invocation'))
    expect(usage.cost_micro).toBe(charged)
    expect(charged).toBeLessThan(usage.prompt_tokens + 2 * usage.completion_tokens)
  })

  test('is 0 if the reservation was already released, and a repeat is a new attempt', async ({
    stack,
    tenant,
    fixture,
  }) => {
    const { control } = stack.provider
    for (const stream of [false, true]) {
      const content = newPrompt()
      await control.setFaults([{ prompt: content, hold: true, times: 1 }])
      const fields = { messages: [{ role: 'user', content }], stream, stream_options: { include_usage: true } }
      const ask = () => tenant.chat(fields, { headers: { 'idempotency-key': `key-${content}` } })
      const answering = ask()
      await control.waitForCalls(1, { prompt: content })
      await releaseAll(fixture, tenant.project)
      await control.release()
      const text = await (await answering).text()
      const usage = stream ? (eventsOf(text).chunks.at(-1)!.usage as ReportedUsage) : usageIn(text)
      expect(usage).toMatchObject({ cost: 0, cost_micro: 0 })
      expect(usage.completion_tokens).toBeGreaterThan(0)
      expect(await recordOf(tenant, await answering)).toMatchObject({ state: 'Released', chargedMicro: 0 })
      const again = await ask()
      expect(again.headers.get('idempotent-replayed')).toBeNull()
      await again.text()
    }
  })
})
