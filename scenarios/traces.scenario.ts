import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { liveTest } from '@gateway/testbed/live-test'
import { privateRedis } from '@gateway/testbed/private-servers'
import { processOf } from '@gateway/testbed/test-program'
import { chat, openLiveStack, type Stack, type TenantFixture } from './src/stack.ts'
import { sendsSpansTo, startOtlpReceiver, type OtlpReceiver } from './src/otlp-receiver.ts'
import { partOf, treeOf, type SeenSpan } from './src/seen-spans.ts'

// The stack as a trace collector sees it: one trace from the first byte to the settlement, even if a worker dies, with attributes that
// dashboards can rely on, and no content of prompts or responses.

const SAID = 'the secret recipe of the honey cake'
/** A caller with its own trace. */
function newCaller() {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } }
}

const test = liveTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('collector', { scope: 'file' }, async ({}, { onCleanup }) => {
    const receiver = await startOtlpReceiver()
    onCleanup(receiver.stop)
    return receiver
  })
  // oxlint-disable-next-line no-empty-pattern -- as above
  .extend('ownRedis', { scope: 'file' }, async ({}, { onCleanup }) => {
    const server = await privateRedis() // one node queue per Redis, and other test files run workers too
    onCleanup(() => server.stop())
    return server
  })
  .extend('stack', { scope: 'file' }, async ({ database, ownRedis, collector }, { onCleanup }) => {
    const traced = () => ({ ...sendsSpansTo(collector), OTEL_METRIC_EXPORT_INTERVAL: '1000' })
    const stack = await openLiveStack({
      ...database,
      redisUrl: ownRedis.url,
      gateways: 2,
      workers: 1,
      processes: ['ledger-0', 'gateway-0', 'gateway-1', 'worker-0'], // each with its SDK, a singleton per process
      environment: {
        ledger: traced,
        gateway: (n) => ({ ...traced(), ...(n === 1 && { TRACE_CONTENT: '1' }) }),
        worker: () => ({ ...traced(), NODE_SLICE_MS: '60000' }), // free nodes are chained, even on a busy machine
      },
    })
    onCleanup(stack.close)
    return stack
  })

/**
 * The trace of an invocation, once it has at least `spans` spans, its root and every parent: a parent ends after its
 * children, and a repeated delivery adds spans.
 * @param isOrphan whether the parent of this span was lost
 * @param counted the spans of the trace that count towards `spans`
 */
async function traceOf(
  collector: OtlpReceiver,
  invocation: string,
  spans: number,
  isOrphan: (span: SeenSpan) => boolean = () => false,
  counted: (trace: readonly SeenSpan[]) => readonly SeenSpan[] = (trace) => trace,
): Promise<SeenSpan[]> {
  const ofIt = (all: readonly SeenSpan[]) => {
    const root = all.find(
      ({ kind, service, attributes }) =>
        service === 'gateway' && kind === 'server' && attributes['service.invocation'] === invocation,
    )
    return root ? all.filter(({ traceId }) => traceId === root.traceId) : []
  }
  const isWhole = (trace: readonly SeenSpan[]) => {
    const known = new Set(trace.map(({ spanId }) => spanId))
    const lack = trace.filter((span) => !known.has(span.parentSpanId ?? '') && !isOrphan(span))
    return counted(trace).length >= spans && lack.length === 1 // the root's parent is the caller
  }
  return ofIt(await collector.until((all) => isWhole(ofIt(all))))
}

const named = (spans: readonly SeenSpan[], name: string, service = 'gateway') =>
  spans.find((span) => span.name === name && span.service === service)!

async function call(stack: Stack, tenant: TenantFixture, body: object, gateway = 0) {
  const caller = newCaller()
  const answer = await chat(stack, tenant, {
    headers: caller.headers,
    body: { messages: [{ role: 'user', content: SAID }], ...body },
    gateway,
  })
  const text = await answer.text()
  expect(answer.status).toBe(200)
  return { invocation: answer.headers.get('x-service-invocation')!, text, caller }
}

const chatTree = (model: string) => [
  'gateway server POST /v1/chat/completions',
  '  gateway internal admit',
  '    gateway client ledger admit',
  '      ledger server ledger admit',
  '  gateway internal call',
  `    gateway client chat ${model}`,
  '    gateway client ledger settle',
  '      ledger server ledger settle',
]

for (const stream of [false, true]) {
  // spec: can/one-id, can/traces
  test(`a ${stream ? 'streamed ' : ''}chat call is one trace within its caller’s, with its request attributes and its cost`, async ({
    stack,
    collector,
  }) => {
    const tenant = await stack.tenant(1_000_000n)
    const { invocation, caller } = await call(stack, tenant, { stream })
    const spans = await traceOf(collector, invocation, 8)
    expect(treeOf(spans)).toEqual(chatTree(tenant.model))
    const [root] = spans.filter(({ name }) => name === 'POST /v1/chat/completions')
    expect([root!.traceId, root!.parentSpanId]).toEqual([caller.traceId, caller.spanId])
    expect(root!.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'service.request': invocation.replace('inv_', 'req_'),
      'gen_ai.request.model': tenant.model,
      'service.invocation': invocation,
      'service.project': tenant.project.id,
    })

    const [charge] = await stack.invocations(tenant.project.id)
    expect(named(spans, `chat ${tenant.model}`).attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': tenant.model,
      'gen_ai.request.max_tokens': 50,
      'gen_ai.request.stream': stream,
      'gen_ai.response.model': tenant.model,
      'gen_ai.response.id': invocation,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': charge!.promptTokens,
      'gen_ai.usage.output_tokens': charge!.completionTokens,
      'service.invocation': invocation,
      'service.project': tenant.project.id,
    })
    for (const service of ['gateway', 'ledger'])
      expect(named(spans, 'ledger settle', service).attributes).toEqual({
        'service.reservation': invocation,
        'service.outcome': 'settled',
        'service.charged_micro': Number(charge!.chargedMicro),
      })
  })
}

test('an item and the batch that decided it link to each other', async ({ stack, collector }) => {
  const tenant = await stack.tenant(1_000_000n)
  const { invocation } = await call(stack, tenant, {})
  const item = named(await traceOf(collector, invocation, 8), 'ledger settle', 'ledger')
  const linked = ({ links }: SeenSpan) => links.some(({ spanId }) => spanId === item.spanId)
  const batch = (await collector.until((all) => all.some(linked))).find(linked)!
  expect(batch.name).toBe('ledger batch')
  expect(batch.traceId).not.toBe(item.traceId)
  expect(item.links).toEqual([{ traceId: batch.traceId, spanId: batch.spanId }])
})

test('the trace of a refused call has the refusal code and ends at the ledger [insufficient_budget]', async ({
  stack,
  collector,
}) => {
  const tenant = await stack.tenant(1n)
  const answer = await chat(stack, tenant, {})
  expect(answer.status).toBe(402)
  const ofProject = (all: readonly SeenSpan[]) =>
    all.find(
      ({ service, attributes }) => service === 'ledger' && attributes['service.refusal'] === 'insufficient_budget',
    )
  const item = ofProject(await collector.until((all) => ofProject(all) !== undefined))!
  const ofIt = (all: readonly SeenSpan[]) => all.filter(({ traceId }) => traceId === item.traceId)
  const spans = ofIt(await collector.until((all) => ofIt(all).length >= 4))
  expect(treeOf(spans)).toEqual(chatTree(tenant.model).slice(0, 4))
  expect(named(spans, 'POST /v1/chat/completions').attributes).toMatchObject({
    'error.type': 'insufficient_budget',
    'http.response.status_code': 402,
  })
})

/** Five nodes, one of them paid. The template text is confidential too. */
function fiveNodes(product: string): Graph {
  const text = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
  return {
    input: text,
    output: text,
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'ask', kind: 'template', template: `${SAID}, please: {{ text }}` },
      { id: 'draft', kind: 'product.chat', product, params: { max_tokens: 20 } },
      { id: 'shout', kind: 'expression', expression: "text + '!'" },
      { id: 'out', kind: 'output' },
    ],
    edges: [
      { from: 'in.text', to: 'ask.text' },
      { from: 'ask.text', to: 'draft.prompt' },
      { from: 'draft.text', to: 'shout.text' },
      { from: 'shout.value', to: 'out.text' },
    ],
  }
}

const job = (node: string, attempt: number, ...work: string[]) => [
  `    ledger producer send nodes [${node} #${attempt}]`,
  `      worker consumer process nodes [${node} #${attempt}]`,
  `        worker client ledger claim [${node}]`,
  `          ledger server ledger claim [${node}]`,
  ...completed(node, ...work),
]

const chained = (node: string, attempt: number) => [
  `      worker internal run node [${node} #${attempt}]`,
  ...completed(node),
]

const completed = (node: string, ...work: string[]) => [
  ...work,
  `        worker client ledger complete [${node}]`,
  `          ledger server ledger complete [${node}]`,
]

// spec: can/traces
test('an execution whose worker is killed midway is one trace with every span in place', async ({
  stack,
  collector,
}) => {
  const tenant = await stack.tenant(1_000_000n)
  const { id: sandbox } = await stack.fixture.sandbox(tenant.project, fiveNodes(tenant.model))
  const caller = newCaller()
  const before = await stack.provider.control.countCalls()
  await stack.provider.control.setFaults([{ prompt: SAID, hold: true, times: 1 }])
  const running = fetch(`${stack.gateways[0]!.url}/v1/sandbox/${sandbox}/invoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenant.key.secret}`,
      'content-type': 'application/json',
      accept: 'application/x-ndjson',
      'idempotency-key': 'a-run-in-one-trace',
      ...caller.headers,
    },
    body: JSON.stringify({ input: { text: SAID } }),
  })
  await stack.provider.control.waitForCalls(before + 1)
  // Wait until the ended spans are exported; the open ones are lost with the worker.
  const begun = ({ name, service, attributes }: SeenSpan) =>
    service === 'worker' && name === 'ledger admit-node' && attributes['service.project'] === tenant.project.id
  await collector.until((all) => all.some(begun))
  await processOf(stack.workers[0]).kill()
  await stack.workers[0]!.start()
  const answer = await running
  const lines = (await answer.text()).trim().split('\n')
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ kind: 'complete', execution: { status: 'Succeeded' } })
  await stack.provider.control.clearFaults()
  await stack.provider.control.release()

  const execution = answer.headers.get('x-service-invocation')!
  const paid = (all: readonly SeenSpan[]) => all.filter(({ name }) => name === 'paid call')
  await collector.until((all) => paid(all).some(({ attributes }) => attributes['service.execution'] === execution))
  // The dead worker couldn't export its open spans. Their children are orphans, but name their node and attempt.
  const isOfDeadWorker = ({ attributes }: SeenSpan) =>
    attributes['service.node'] === 'draft' && attributes['service.attempt'] === 1
  const orphansOf = (trace: readonly SeenSpan[]) => {
    const known = new Set(trace.map(({ spanId }) => spanId))
    return trace.filter(({ parentSpanId }) => parentSpanId !== caller.spanId && !known.has(parentSpanId ?? ''))
  }
  // The queue may redeliver the dead worker's job to another one, which finds nothing to do.
  const isIdle = ({ kind, attributes }: SeenSpan) => kind === 'consumer' && !('service.outcome' in attributes)
  const withoutThose = (trace: readonly SeenSpan[]) => {
    const tops = [...orphansOf(trace), ...trace.filter(isIdle)]
    const ignored = new Set(tops.flatMap(({ spanId }) => partOf(trace, spanId)))
    return trace.filter((span) => !ignored.has(span))
  }
  const expected = [
    'gateway server POST /v1/sandbox/{id}/invoke',
    '  gateway internal start',
    '    gateway client ledger start',
    '      ledger server ledger start',
    ...job('ask', 1),
    '    ledger producer send nodes [draft #1]', // the rest of it is lost with its worker
    ...job(
      'draft',
      2,
      '        worker internal paid call [draft]',
      '          worker client ledger admit-node [draft]',
      '            ledger server ledger admit-node [draft]',
      `          worker client chat ${tenant.model} [draft]`,
    ),
    ...chained('shout', 1),
    ...chained('out', 1),
    '  gateway internal run',
  ]
  const whole = await traceOf(collector, execution, expected.length, isOfDeadWorker, withoutThose)
  const orphans = orphansOf(whole)
  expect(orphans.length).toBeGreaterThan(0)
  for (const { attributes } of orphans)
    expect(attributes).toMatchObject({ 'service.execution': execution, 'service.node': 'draft', 'service.attempt': 1 })
  const spans = withoutThose(whole)

  expect(treeOf(spans)).toEqual(expected)
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([caller.traceId]))
  expect(named(spans, 'POST /v1/sandbox/{id}/invoke').attributes).toMatchObject({
    'service.invocation': execution,
    'service.execution': execution,
    'service.project': tenant.project.id,
    'service.sandbox': sandbox,
  })

  const [charge] = (await stack.invocations(tenant.project.id)).filter(({ state }) => state === 'Settled')
  const callId = charge!.invocation
  expect(named(spans, `chat ${tenant.model}`, 'worker').attributes).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.output.type': 'text',
    'gen_ai.request.model': tenant.model,
    'gen_ai.request.max_tokens': 20,
    'gen_ai.response.model': tenant.model,
    'gen_ai.response.id': callId,
    'gen_ai.response.finish_reasons': ['length'],
    'gen_ai.usage.input_tokens': charge!.promptTokens,
    'gen_ai.usage.output_tokens': charge!.completionTokens,
    'service.invocation': callId,
    'service.project': tenant.project.id,
    'service.execution': execution,
    'service.node': 'draft',
  })
  const completed = spans.find(
    ({ name, kind, attributes }) =>
      name === 'ledger complete' && kind === 'server' && attributes['service.node'] === 'draft',
  )!
  expect(completed.attributes['service.charged_micro']).toBe(Number(charge!.chargedMicro))
})

test('an execution whose jobs are lost with the queue is enqueued by a maintenance job and continues in its trace', async ({
  stack,
  ownRedis,
  collector,
}) => {
  const tenant = await stack.tenant(1_000_000n)
  const { id: sandbox } = await stack.fixture.sandbox(tenant.project, fiveNodes(tenant.model))
  const caller = newCaller()
  await stack.workers[0]!.stop()
  const running = fetch(`${stack.gateways[0]!.url}/v1/sandbox/${sandbox}/invoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenant.key.secret}`,
      'content-type': 'application/json',
      'idempotency-key': 'an-execution-requeued',
      ...caller.headers,
    },
    body: JSON.stringify({ input: { text: SAID } }),
  })
  const ofIt = (all: readonly SeenSpan[]) => all.filter(({ traceId }) => traceId === caller.traceId)
  await collector.until((all) => ofIt(all).some(({ kind }) => kind === 'producer'))
  const redis = new Redis(ownRedis.url)
  await redis.flushall()
  redis.disconnect()
  await stack.workers[0]!.start()
  expect(((await (await running).json()) as { status: string }).status).toBe('Succeeded')

  const isIts = ({ kind, attributes }: SeenSpan) => kind === 'consumer' && attributes['service.node'] === 'ask'
  const spans = ofIt(await collector.until((all) => ofIt(all).some(isIts)))
  expect(spans.find(isIts)!.parentSpanId).toBe(named(spans, 'start').spanId)
})

test('a node that waits for funds has a wait span in the trace of its execution', async ({ stack, collector }) => {
  // Enough for one of the two siblings at a time.
  const tenant = await stack.tenant(150n)
  const text = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
  const sibling = (id: string) => ({ id, kind: 'product.chat', product: tenant.model, params: { max_tokens: 40 } })
  const { id: sandbox } = await stack.fixture.sandbox(tenant.project, {
    input: text,
    output: text,
    nodes: [
      { id: 'in', kind: 'input' },
      sibling('one'),
      sibling('two'),
      { id: 'both', kind: 'expression', expression: "size(a) + size(b) > 0 ? 'both' : ''" },
      { id: 'out', kind: 'output' },
    ],
    edges: [
      { from: 'in.text', to: 'one.prompt' },
      { from: 'in.text', to: 'two.prompt' },
      { from: 'one.text', to: 'both.a' },
      { from: 'two.text', to: 'both.b' },
      { from: 'both.value', to: 'out.text' },
    ],
  })
  const calls = await stack.provider.control.countCalls()
  await stack.provider.control.setFaults([{ prompt: 'dear', hold: true, times: 1 }])
  const running = fetch(`${stack.gateways[0]!.url}/v1/sandbox/${sandbox}/invoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenant.key.secret}`,
      'content-type': 'application/json',
      'idempotency-key': 'a-run-that-waits',
    },
    body: JSON.stringify({ input: { text: 'dear' } }),
  })
  await stack.provider.control.waitForCalls(calls + 1)
  // The other sibling was refused and waits.
  await collector.until((all) =>
    all.some(
      ({ name, kind, attributes }) =>
        name === 'ledger admit-node' && kind === 'client' && attributes['service.refusal'] === 'insufficient_budget',
    ),
  )
  await stack.provider.control.release()
  expect(((await (await running).json()) as { status: string }).status).toBe('Succeeded')
  await stack.provider.control.clearFaults()
  const isWait = ({ name }: SeenSpan) => name === 'wait for money'
  const spans = await collector.until((all) => all.some(isWait))
  const wait = spans.find(isWait)!
  const ended = (all: readonly SeenSpan[]) => all.find(({ spanId }) => spanId === wait.parentSpanId)
  expect(ended(await collector.until((all) => ended(all) !== undefined))).toMatchObject({
    name: 'paid call',
    traceId: wait.traceId,
  })
  expect(wait.attributes).toEqual({ 'service.outcome': 'admitted' })
})

test('traces and metrics contain no content or secret unless TRACE_CONTENT is set, and only metrics name a provider', async ({
  stack,
  collector,
}) => {
  const tenant = await stack.tenant(1_000_000n)
  const { id: sandbox } = await stack.fixture.sandbox(tenant.project, fiveNodes(tenant.model))
  const { invocation, text } = await call(stack, tenant, {})
  const run = await fetch(`${stack.gateways[0]!.url}/v1/sandbox/${sandbox}/invoke`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tenant.key.secret}`,
      'content-type': 'application/json',
      'idempotency-key': SAID.replaceAll(' ', '-'),
    },
    body: JSON.stringify({ input: { text: SAID } }),
  })
  expect(run.status).toBe(200)
  await stack.provider.control.setFaults([{ prompt: SAID, status: 500, body: { error: { message: SAID } }, times: 1 }])
  expect((await chat(stack, tenant, { body: { messages: [{ role: 'user', content: SAID }] } })).status).toBe(502)
  await stack.provider.control.clearFaults()
  await traceOf(collector, invocation, 8)
  await traceOf(collector, run.headers.get('x-service-invocation')!, 5 + 6 + 4 + 3 * 3)

  const { choices } = JSON.parse(text) as { choices: [{ message: { content: string } }] }
  const answered = choices[0].message.content.split(': ').at(-1)! // follows the quoted prompt
  const address = new URL(stack.provider.url)
  const everything = () =>
    ['/v1/traces', '/v1/metrics'].map((path) => collector.received(path as '/v1/traces').toString()).join('\n')
  const forbidden: Record<string, string> = {
    'the prompt': SAID,
    'its idempotency key': SAID.replaceAll(' ', '-'),
    'the answer': answered,
    'the key': tenant.key.secret,
    'the hash of the key': tenant.key.hash,
    'the private key of the gateway': stack.secrets.gateway.split('\n')[1]!,
    'the private key of the worker': stack.secrets.worker.split('\n')[1]!,
    'the key of the provider': stack.providerKey,
    'the address of the provider': address.host,
  }
  expect(everything()).toContain(invocation)
  const found = () => Object.keys(forbidden).filter((what) => everything().includes(forbidden[what]!))
  expect(found()).toEqual([])

  // The second gateway has TRACE_CONTENT set.
  const shown = await call(stack, tenant, {}, 1)
  const provider = named(await traceOf(collector, shown.invocation, 8), `chat ${tenant.model}`)
  expect(provider.attributes['gen_ai.input.messages']).toBe(JSON.stringify([{ role: 'user', content: SAID }]))
  expect(provider.attributes['gen_ai.output.messages']).toContain(answered)
  expect(found()).toEqual(['the prompt', 'the answer'])
  expect(collector.received('/v1/traces').toString()).not.toContain('simulated')
})
