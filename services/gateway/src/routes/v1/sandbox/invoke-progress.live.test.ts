import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import type { ProgressLine } from '@gateway/api/execution'
import { readPushed } from '@gateway/ledger-protocol/flow-reads'
import { openRedis } from '@gateway/service-kit/redis/open-redis'
import { describe, expect } from 'vitest'
import {
  chain,
  echo,
  flowTest as test,
  linesOf,
  newKey,
  openLines,
  PROGRESS,
  recordOf,
} from '../../../flow-stack.fixture.ts'
import { errorOf, newPrompt } from '../../../stack.fixture.ts'

/** Expects the complete, gapless progress lines of an ended execution. */
function expectWhole(lines: ProgressLine[]): void {
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, n) => n))
  expect(lines.map(({ kind }) => kind)).toEqual(['admitted', ...lines.slice(2).map(() => 'node'), 'complete'])
}

describe('the progress stream of an invocation', () => {
  test('consists of the lines that the ledger sends through Redis', async ({ redis: { url }, tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model, 3))
    const redis = openRedis(url, { maxRetriesPerRequest: 1, connectTimeout: 1_000 })
    const texts = new Map<string, string>()
    const ended = new Set<string>()
    redis.on('pmessage', (_pattern: string, channel: string, text: string) => {
      const execution = channel.slice(channel.lastIndexOf(':') + 1)
      const pushed = readPushed(text)!
      texts.set(execution, (texts.get(execution) ?? '') + pushed.lines)
      if (pushed.done) ended.add(execution)
    })
    await redis.psubscribe('{svc}:text:lines:*')
    const answer = await flows.invoke(sandbox, { text: newPrompt() }, { headers: PROGRESS })
    const id = answer.headers.get('x-service-invocation')!
    const lines = await answer.text()
    await expect.poll(() => ended.has(id)).toBe(true) // the gateway may hear of the last line first
    redis.disconnect()
    expectWhole(linesOf(lines))
    const beginning = linesOf(lines).slice(0, 2) // written at the start, and read
    expect(beginning.map(({ kind }) => kind)).toEqual(['admitted', 'node'])
    expect(lines.endsWith(texts.get(id)!)).toBe(true)
    expect(linesOf(texts.get(id)!)).toHaveLength(linesOf(lines).length - beginning.length)
  })

  // spec: 2.4/s2, 6/r1, 6/r2, 6/r3
  test('contains the admission, each node as it ends, and the record', async ({ tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model, 1))
    const answer = await flows.invoke(sandbox, { text: newPrompt() }, { headers: PROGRESS })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = linesOf(await answer.text())
    expectWhole(lines)
    const id = answer.headers.get('x-service-invocation')!
    expect(lines[0]).toMatchObject({ executionId: id, revision: 1, at: expect.stringMatching(/Z$/) as string })
    const nodes = lines.flatMap((line) => (line.kind === 'node' ? [line.node] : []))
    expect(nodes.map(({ id: node }) => node)).toEqual(['in', 'step0', 'step1', 'out'])
    for (const { kind, status, durationMs, remoteMs } of nodes) {
      expect([status, typeof durationMs]).toEqual(['Succeeded', 'number'])
      expect(remoteMs === null).toBe(kind !== 'product.chat')
    }
    const last = lines.at(-1)!
    const record = await recordOf(await flows.get(`/v1/executions/${id}`))
    expect(last).toMatchObject({ kind: 'complete', execution: record })
  })

  test('arrives while the execution runs, and a repeat gets it from the first line', async ({
    stack,
    tenant,
    flows,
  }) => {
    const sandbox = await flows.save(chain(tenant.model))
    const text = newPrompt()
    await stack.provider.control.setFaults([{ prompt: text, hold: true }])
    const headers = { ...PROGRESS, 'idempotency-key': newKey() }
    const first = await openLines(await flows.invoke(sandbox, { text }, { headers }))
    expect((await first.take(2)).map(({ kind }) => kind)).toEqual(['admitted', 'node'])
    await stack.provider.control.waitForCalls(1, { prompt: text })

    const repeat = await flows.invoke(sandbox, { text }, { headers })
    expect(repeat.headers.get('idempotent-replayed')).toBe('true')
    const second = await openLines(repeat)
    expect(await second.take(2)).toEqual(first.lines)
    await stack.provider.control.release()
    await Promise.all([first.end(), second.end()])
    expectWhole(first.lines)
    expect(second.lines).toEqual(first.lines)

    const replay = linesOf(await (await flows.invoke(sandbox, { text }, { headers })).text())
    expect(replay).toEqual(first.lines)
    expect(await stack.provider.control.countCalls({ prompt: text })).toBe(1)
  })

  // spec: 6/r2, 6/r3
  test('ends with the failed node and the record if the execution fails', async ({ stack, tenant, flows }) => {
    const sandbox = await flows.save(chain(tenant.model))
    const text = newPrompt()
    await stack.provider.control.setFaults([{ prompt: text, status: 500 }])
    const lines = linesOf(await (await flows.invoke(sandbox, { text }, { headers: PROGRESS })).text())
    expectWhole(lines)
    expect(lines.slice(-2)).toMatchObject([
      { kind: 'node', node: { id: 'step0', status: 'Failed', error: { code: 'provider_failed' } } },
      { kind: 'complete', execution: { status: 'Failed', error: { code: 'provider_failed' } } },
    ])
  })

  // spec: 6/s4
  test('is replaced by a plain JSON error if the invocation is refused [input_type, sandbox_not_found]', async ({
    flows,
  }) => {
    const sandbox = await flows.save(echo)
    for (const [id, input, status] of [
      [sandbox, {}, 422],
      ['sbx-never', { text: 'a' }, 404],
    ] as const) {
      const answer = await flows.invoke(id, input, { headers: PROGRESS })
      expect(answer.status).toBe(status)
      expect(answer.headers.get('content-type')).toBe('application/json')
      expect(await errorOf(answer)).toHaveProperty('resolution')
    }
  })
})

// Each reader disconnects after some number of bytes, at any point of the execution, and reads again under the same
// idempotency key.
// spec: 6/s5
test('200 disconnected readers each get the progress again without gaps or duplicates, ending with the record', async ({
  tenant,
  flows,
  stack,
}) => {
  const sandbox = await flows.save(chain(tenant.model, 1))
  const READERS = 200
  const MAX_CONCURRENT = 8
  const whole = await (await flows.invoke(sandbox, { text: newPrompt() }, { headers: PROGRESS })).text()
  const prompts: string[] = []

  async function cutOff(n: number): Promise<void> {
    const [text, key] = [newPrompt(), newKey()]
    prompts.push(text)
    const seen = await readBytes(
      tenant.url,
      sandbox,
      { text },
      { ...tenant.headers, 'idempotency-key': key },
      (n * 37) % whole.length,
    )
    const answer = await flows.invoke(sandbox, { text }, { headers: { ...PROGRESS, 'idempotency-key': key } })
    const id = answer.headers.get('x-service-invocation')!
    const body = await answer.text()
    const lines = linesOf(body)
    expectWhole(lines)
    const read = linesOf(seen.text.slice(0, seen.text.lastIndexOf('\n') + 1))
    expect(lines.slice(0, read.length)).toEqual(read)
    expect(seen.invocation === null || seen.invocation === id).toBe(true)
    expect(lines.at(-1)).toMatchObject({
      kind: 'complete',
      execution: { id, status: 'Succeeded', nodes: expect.objectContaining({ length: 4 }) as unknown },
    })
  }

  const waiting = Array.from({ length: READERS }, (_, n) => n)
  await Promise.all(
    Array.from({ length: MAX_CONCURRENT }, async () => {
      for (let n = waiting.pop(); n !== undefined; n = waiting.pop()) await cutOff(n)
    }),
  )
  for (const prompt of prompts) expect(await stack.provider.control.countCalls({ prompt })).toBe(2) // one per node; responses repeat the prompt
  expect(await flows.executions()).toBe(READERS + 1)
}, 180_000)

/** Reads the progress of an invocation up to this many bytes, then drops the connection. */
async function readBytes(url: string, sandbox: string, input: object, headers: Record<string, string>, bytes: number) {
  const req = request(`${url}/v1/sandbox/${sandbox}/invoke`, {
    method: 'POST',
    agent: false,
    headers: { ...headers, ...PROGRESS },
  })
  req.on('error', () => {})
  req.end(JSON.stringify({ input }))
  const [answer] = (await once(req, 'response')) as [IncomingMessage]
  const invocation = answer.headers['x-service-invocation'] ?? null
  let text = ''
  try {
    for await (const part of answer.setEncoding('utf8') as AsyncIterable<string>) {
      text += part
      if (text.length >= bytes) break
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
  }
  req.destroy()
  return { invocation, text }
}

test('a slow reader does not delay the execution and still receives every line', async ({ tenant, flows, fixture }) => {
  const sandbox = await flows.save(echo)
  const text = 'x'.repeat(60_000)
  const req = request(`${tenant.url}/v1/sandbox/${sandbox}/invoke`, {
    method: 'POST',
    agent: false,
    headers: { ...tenant.headers, ...PROGRESS, 'idempotency-key': newKey() },
  })
  req.end(JSON.stringify({ input: { text } }))
  const [answer] = (await once(req, 'response')) as [IncomingMessage]
  const id = answer.headers['x-service-invocation']
  for (let ended = 0; ended === 0;) {
    const { rows } = await fixture.run(
      'SELECT count(*)::int AS ended FROM money.executions WHERE id = $1 AND completed_at IS NOT NULL',
      [id],
    )
    ended = (rows as [{ ended: number }])[0].ended
  }
  expectWhole(linesOf(await textOf(answer)))
})
