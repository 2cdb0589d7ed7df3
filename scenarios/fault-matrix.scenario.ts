import { randomUUID } from 'node:crypto'
import { describe } from 'vitest'
import type { FaultRule } from '@gateway/simulated-provider/fault-rule'
import { startSimulatedProvider } from '@gateway/simulated-provider/start-provider'
import { liveTest } from '@gateway/testbed/live-test'
import { chat, openLiveStack, type Stack, type TenantFixture } from './src/stack.ts'
import { everyByte, tracesIn } from './src/provider-scan.ts'

// Every provider fault, in either wire format, whole or streamed, alone or with a fallback: the response, the charge, the remaining
// reservation, the replay, and no trace of the provider (rules §2, §3, §5, money §3).

/** Outcome of a call to a provider with a fault and without a fallback. */
type Outcome =
  | { kind: 'answers'; estimated?: true; capped?: true }
  /** Nothing is charged and nothing saved. `final`: no other provider is tried. */
  | { kind: 'refused'; says: string; final?: true }
  /** The response had started: it is charged by our own count and saved unchanged. */
  | { kind: 'breaks'; code: string }

const answers: Outcome = { kind: 'answers' }
const failed: Outcome = { kind: 'refused', says: '502 provider_failed' }
const late: Outcome = { kind: 'refused', says: '504 provider_timeout' }
const wrong: Outcome = { kind: 'refused', says: '400 invalid_request', final: true }
const breaks: Outcome = { kind: 'breaks', code: 'provider_failed' }

const middle = { afterChunk: 5 }
const errorPage = '<html>simulated-provider</html>'

const faults: [what: string, rule: FaultRule | null, json: Outcome, stream: Outcome][] = [
  ['no fault', null, answers, answers],
  ['an error status', { status: 500 }, failed, failed],
  ['an error page', { status: 502, body: errorPage, contentType: 'text/html' }, failed, failed],
  ['an overloaded provider', { status: 529 }, failed, failed],
  ['an invalid provider key', { status: 401 }, failed, failed],
  ['a missing model', { status: 404 }, failed, failed],
  ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:9/elsewhere' } }, failed, failed],
  ['too many requests', { status: 429, retryAfter: 1 }, failed, failed],
  ['a rejected request', { status: 400 }, wrong, wrong],
  ['an error body', { status: 200, body: { type: 'error', error: { code: 500, type: 'api_error' } } }, failed, failed],
  ['an error event before the first byte', { errorEvent: 'before-first-byte' }, answers, failed],
  ['an error event mid-stream', { errorEvent: middle }, answers, breaks],
  ['a slow first byte', { latencyMs: 100 }, answers, answers],
  ['a first byte after the time limit', { latencyMs: 60_000 }, late, late],
  ['a stall before the first byte', { stall: 'before-first-byte' }, late, late],
  ['a stall after the headers', { stall: { afterChunk: 0 } }, late, late],
  ['a stall before any content', { stall: { afterChunk: 1 } }, late, late],
  ['a stall mid-stream', { stall: middle }, late, { kind: 'breaks', code: 'provider_timeout' }],
  ['a cut before the first byte', { cut: 'before-first-byte' }, failed, failed],
  ['a cut before any content', { cut: { afterChunk: 1 } }, failed, failed],
  ['a cut mid-stream', { cut: middle }, failed, breaks],
  ['an end without a finish', { cut: 'without-end-marker' }, failed, breaks],
  ['an end without its end marker', { cut: 'without-done' }, answers, answers],
  ['garbage before the first byte', { garbage: 'before-first-byte' }, failed, failed],
  ['garbage mid-stream', { garbage: middle }, failed, breaks],
  ['an oversized response', { oversizedBytes: 13 * 1024 * 1024 }, failed, failed],
  ['a wrong content type', { contentType: 'text/html' }, failed, failed],
  ['no usage', { missingUsage: true }, { kind: 'answers', estimated: true }, { kind: 'answers', estimated: true }],
  ['zero usage', { usageFactor: 0 }, { kind: 'answers', estimated: true }, { kind: 'answers', estimated: true }],
  ['excess usage', { usageFactor: 1_000 }, { kind: 'answers', capped: true }, { kind: 'answers', capped: true }],
]

/** The first provider has the fault. The second uses the other wire format and never has one. */
const setups = [
  ['one provider', ['okapi']],
  ['one provider in the other format', ['zebra']],
  ['two providers', ['okapi', 'zebra-two']],
  ['two providers in reverse order', ['zebra', 'okapi-two']],
] as const

const MODEL = 'tapir-large'
const KEY = 'sk-quokka-4711'

const mark = (what: string, stream: boolean) => `<${what}, ${stream ? 'streamed' : 'whole'}>`

const test = liveTest.extend('fixture', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
  const first = await startSimulatedProvider()
  const second = await startSimulatedProvider()
  const rules = faults.flatMap(([what, rule]) =>
    rule ? [false, true].map((stream) => ({ ...rule, prompt: mark(what, stream) })) : [],
  )
  await first.control.setFaults(rules)
  const provider = (kind: string, url: string) => ({
    kind,
    baseUrl: `${url}/v1`,
    apiKey: KEY,
    allowPrivateAddress: true,
    // Each provider is called once; try-routes.live.test.ts covers retries.
    tries: 1,
    circuitFailures: 1_000_000,
    // Long enough for a busy machine, short enough for the rows that wait for the timeout.
    firstByteMs: 2_000,
    idleMs: 1_500,
  })
  const PROVIDERS = JSON.stringify({
    okapi: provider('openai-compatible', first.url),
    zebra: provider('anthropic', first.url),
    'okapi-two': provider('openai-compatible', second.url),
    'zebra-two': provider('anthropic', second.url),
  })
  const stack = await openLiveStack({
    adminUrl: database.adminUrl,
    ledgerUrl: database.ledgerUrl,
    redisUrl: redis.url,
    environment: { gateway: () => ({ PROVIDERS }) },
  })
  onCleanup(async () => {
    await stack.close()
    await first.stop()
    await second.stop()
  })
  const words = ['okapi', 'zebra', 'simulated', MODEL, KEY, new URL(first.url).host, new URL(second.url).host]
  return { stack, first, second, words }
})

type Fixture = { stack: Stack; words: string[] }

/** A product served by these providers, in order, and a project that may call it. */
async function tenantOf({ stack }: Fixture, providers: readonly string[]): Promise<TenantFixture> {
  const tenant = await stack.tenant(10_000_000n)
  const model = await stack.fixture.publishProduct({
    promptPico: 1_000_000n,
    completionPico: 1_000_000n,
    providers: providers.map((provider, priority) => ({ provider, model: MODEL, priority })),
  })
  await stack.fixture.assign(tenant.project.id, model)
  return { ...tenant, model }
}

interface ReadAnswer {
  status: number
  invocation: string | null
  replayed: boolean
  type: string | null
  text: string
  /** The last event of a stream, or the body of any other response. */
  last: { error?: { code: string }; usage?: { prompt_tokens: number; completion_tokens: number } }
  done: boolean
}

async function readAnswer(
  fixture: Fixture,
  answer: Response,
  stream: boolean,
): Promise<ReadAnswer & { traces: string[] }> {
  const bytes = await everyByte(answer)
  const text = bytes.slice(bytes.indexOf('\n\n') + 2)
  const streamed = stream && answer.status === 200
  const events = streamed ? text.split('\n\n').filter((event) => event.startsWith('data: ')) : []
  const done = events.at(-1) === 'data: [DONE]'
  const last = streamed ? events.at(done ? -2 : -1)!.slice('data: '.length) : text
  return {
    status: answer.status,
    invocation: answer.headers.get('x-service-invocation'),
    replayed: answer.headers.get('idempotent-replayed') === 'true',
    type: answer.headers.get('content-type'),
    text,
    last: JSON.parse(last),
    done,
    traces: tracesIn(bytes, fixture.words),
  }
}

/** Outcome with a second provider as fallback. */
function withSecond(outcome: Outcome): Outcome {
  return outcome.kind === 'refused' && !outcome.final ? answers : outcome
}

for (const [setup, providers] of setups) {
  describe.concurrent(`with ${setup}`, () => {
    for (const [what, , json, streamed] of faults)
      for (const stream of [false, true])
        // spec: 1/s11, 9/s3
        test(`handles ${what} ${stream ? 'in a streamed call' : 'in a whole call'}`, async ({ fixture, expect }) => {
          const { stack, first, second } = fixture
          const alone = stream ? streamed : json
          const outcome = providers.length > 1 ? withSecond(alone) : alone
          const tenant = await tenantOf(fixture, providers)
          const prompt = `${mark(what, stream)} ${tenant.project.id}`
          const ask = { messages: [{ role: 'user', content: prompt }], stream, ...(stream && usageToo) }
          const headers = { 'idempotency-key': randomUUID() }
          const answered = await readAnswer(fixture, await chat(stack, tenant, { headers, body: ask }), stream)
          expect(answered.traces).toEqual([])

          await stack.untilNothingIsReserved(tenant.project.id, 5_000)
          const { settled } = await stack.wallet(tenant.project.id)
          const [call] = await stack.invocations(tenant.project.id)
          const asked = [await first.control.countCalls({ prompt }), await second.control.countCalls({ prompt })]
          expect(asked).toEqual([1, outcome === alone ? 0 : 1])
          expect(call!.invocation).toBe(answered.invocation)
          expect([call!.chargedMicro, call!.project]).toEqual([settled, tenant.project.id])

          const repeat = await readAnswer(fixture, await chat(stack, tenant, { headers, body: ask }), stream)
          expect(repeat.traces).toEqual([])
          expect(repeat.invocation).toBe(answered.invocation)

          if (outcome.kind === 'refused') {
            expect(`${answered.status} ${answered.last.error!.code}`).toBe(outcome.says)
            expect([settled, call!.state]).toEqual([0n, 'Released'])
            // Nothing was saved: the repeat calls again.
            expect([repeat.replayed, repeat.text]).toEqual([false, answered.text])
            const calls = await stack.invocations(tenant.project.id)
            expect(calls.map(({ state, attempt }) => [state, attempt])).toEqual([
              ['Released', 1],
              ['Released', 2],
            ])
            return
          }

          expect(answered.status).toBe(200)
          expect(call!.state).toBe('Settled')
          expect([repeat.replayed, repeat.type, repeat.text]).toEqual([true, answered.type, answered.text])
          expect(await stack.wallet(tenant.project.id)).toMatchObject({ settled, reserved: 0n })
          const counted = BigInt(call!.promptTokens! + call!.completionTokens!)
          if (outcome.kind === 'breaks') {
            expect([answered.last.error!.code, answered.done]).toEqual([outcome.code, false])
            expect([call!.estimated, settled, call!.completionTokens! > 0]).toEqual([true, counted, true])
            return
          }
          const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = answered.last.usage!
          expect(BigInt(promptTokens + completionTokens)).toBe(counted)
          expect([answered.done, call!.estimated]).toEqual([stream, outcome.estimated ?? false])
          // The charge never exceeds the reservation; the service bears the excess.
          if (outcome.capped) expect([settled, counted > settled]).toEqual([call!.reservedMicro, true])
          else expect(settled).toBe(counted)
        })
  })
}

const usageToo = { stream_options: { include_usage: true } }

test('100 concurrent calls, half of them failing, each save the response as sent', async ({ fixture, expect }) => {
  const { stack } = fixture
  const tenant = await tenantOf(fixture, ['okapi'])
  const ask = (n: number) => {
    const content = `${mark(n % 2 === 0 ? 'an error status' : 'no fault', false)} ${n}`
    return chat(stack, tenant, {
      headers: { 'idempotency-key': `many-at-once-${n}` },
      body: { messages: [{ role: 'user', content }] },
    })
  }
  const numbers = Array.from({ length: 100 }, (_, n) => n)
  const answered = await Promise.all(numbers.map(async (n) => (await ask(n)).text()))
  const again = await Promise.all(numbers.map(async (n) => (await ask(n)).text()))
  expect(again).toEqual(answered)
  expect((await stack.invocations(tenant.project.id)).filter(({ state }) => state === 'Settled')).toHaveLength(50)
})

test('the books add up after every fault', async ({ fixture, expect }) => {
  expect(await fixture.stack.findings()).toEqual([])
})
