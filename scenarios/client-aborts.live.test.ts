import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { liveStackTest } from './src/live-stack-test.ts'
import { chat, type Stack, type TenantFixture } from './src/stack.ts'

// A caller may disconnect from a stream at any point. The call continues, is charged for its actual usage, and releases its
// reservation.

const TEXT = 'one two three four five six seven eight nine ten'
/** One chunk per word, plus the finish, the usage and possibly the role. */
const LEAST_CHUNKS = 12
const PER_CHUNK_MS = 10

const test = liveStackTest.extend('stream', async ({ stack }) => {
  const tenant = await stack.tenant(10_000_000n)
  const prompt = `Count ${randomUUID()}`
  await stack.provider.control.setFaults([{ prompt, text: TEXT, perChunkMs: PER_CHUNK_MS }])
  const options = {
    body: { stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content: prompt }] },
  }
  const whole = await (await chat(stack, tenant, options)).text()
  const chunks = chunksOf(whole)
  expect(chunks.length).toBeGreaterThanOrEqual(LEAST_CHUNKS)
  const { usage } = chunks.at(-1) as { usage: { prompt_tokens: number; completion_tokens: number } }
  expect(usage.completion_tokens).toBe(10)
  const cost = BigInt(usage.prompt_tokens + usage.completion_tokens)
  expect((await stack.wallet(tenant.project.id)).settled).toBe(cost)
  return { tenant, prompt, cost, options, chunks: chunks.length }
})

function chunksOf(events: string): unknown[] {
  return events
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as unknown)
}

interface Leaving {
  /** Chunks to read before disconnecting; 0 disconnects once the headers have arrived. */
  afterChunks: number
  gateway: number
  headers?: Record<string, string>
}

/** Reads this many chunks of a stream and disconnects. Returns how many had arrived by then. */
async function leave(
  stack: Stack,
  tenant: TenantFixture,
  body: object,
  { afterChunks, gateway, headers = {} }: Leaving,
): Promise<number> {
  const leaving = new AbortController()
  const answer = await chat(stack, tenant, { body, gateway, headers, signal: leaving.signal })
  expect(answer.status).toBe(200)
  let events = ''
  const decoder = new TextDecoder()
  const reader = answer.body!.getReader()
  while (chunksOf(whole(events)).length < afterChunks)
    events += decoder.decode((await reader.read()).value, { stream: true })
  leaving.abort()
  return chunksOf(whole(events)).length
}

/** The complete events of a partial stream. */
function whole(events: string): string {
  return events.slice(0, events.lastIndexOf('\n\n') + 2)
}

describe('a streamed call whose caller disconnects', () => {
  for (const keyed of [false, true])
    test(`is charged for its actual usage after any number of chunks${keyed ? ', and can be replayed' : ''}`, async ({
      stack,
      stream,
    }) => {
      const { tenant, prompt, cost, options, chunks: all } = stream
      const before = await stack.provider.control.countCalls({ prompt })
      const indices = Array.from({ length: all + 1 }, (_, index) => index)
      const keys = indices.map(() => ({ 'idempotency-key': randomUUID() }))
      const read = await Promise.all(
        indices.map((afterChunks) =>
          leave(stack, tenant, options.body, {
            afterChunks,
            gateway: afterChunks,
            ...(keyed && { headers: keys[afterChunks]! }),
          }),
        ),
      )
      for (const [index, chunks] of read.entries()) expect(chunks).toBeGreaterThanOrEqual(index)
      expect(read.filter((chunks) => chunks < all).length).toBeGreaterThan(all / 2) // most disconnected mid-stream

      await stack.untilNothingIsReserved(tenant.project.id, 10_000)
      const calls = await stack.invocations(tenant.project.id)
      expect(calls).toHaveLength(1 + indices.length)
      for (const call of calls) expect(call).toMatchObject({ state: 'Settled', estimated: false, chargedMicro: cost })
      expect((await stack.wallet(tenant.project.id)).settled).toBe(cost * BigInt(1 + indices.length))
      expect(await stack.openReservations(tenant.project.id)).toBe(0)
      const reached = await stack.provider.control.calls({ prompt })
      expect(reached.slice(before).map(({ outcome }) => outcome)).toEqual(indices.map(() => 'finished'))
      expect(await stack.findings([tenant.project.id])).toEqual([])

      if (!keyed) return
      for (const headers of keys) {
        const again = await chat(stack, tenant, { ...options, headers })
        expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
        expect(chunksOf(await again.text())).toHaveLength(all)
      }
      expect((await stack.wallet(tenant.project.id)).settled).toBe(cost * BigInt(1 + indices.length))
    })
})
