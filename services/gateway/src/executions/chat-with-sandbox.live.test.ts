import { describe, expect } from 'vitest'
import { modelEntry, modelList } from '@gateway/api/model-entry'
import { usd } from '@gateway/pricing/usd'
import { nameOf } from '@gateway/testbed/fixture'
import { ask, chain, echo, flowTest, newKey, recordOf, sameImage } from '../flow-stack.fixture.ts'
import { errorOf, newPrompt } from '../stack.fixture.ts'

interface Chunk {
  id: string
  choices: { delta: { role?: string; content?: string }; finish_reason: string | null }[]
  usage?: object | null
  service?: object
}

const test = flowTest.extend(
  'say',
  ({ tenant }) =>
    (model: string, content: string, fields: object = {}, headers = {}) =>
      tenant.chat({ model, messages: [{ role: 'user', content }], ...fields }, { headers }),
)

type Said = [text: string, finish: string]

function wholeOf(answer: unknown): Said {
  const [choice] = (answer as { choices: [{ message: { content: string }; finish_reason: string }] }).choices
  return [choice.message.content, choice.finish_reason]
}

function streamed(events: string): Said {
  const chunks = events
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as Chunk)
  const choices = chunks.flatMap((chunk) => chunk.choices)
  return [
    choices.map(({ delta }) => delta.content ?? '').join(''),
    choices.map((choice) => choice.finish_reason ?? '').join(''),
  ]
}

describe('a text-in, text-out flow as a chat model', () => {
  // spec: 2.2/r14, 2.2/r17, 2.3/s2, 4.1/s7
  test('is listed in /v1/models as a sandbox, while drafts, suspended flows and flows with another contract are not', async ({
    tenant,
    flows,
  }) => {
    const sandbox = await flows.save(chain(tenant.model), { name: 'Summaries', description: 'Makes them' })
    for (const graph of [sameImage, ask(tenant.model)]) await flows.save(graph)
    await flows.save(echo, { suspended: true })
    await flows.save(echo, { activate: false })
    const { data } = modelList.parse(await (await flows.get('/v1/models')).json())
    expect(data.map(({ id }) => id)).toEqual([tenant.model, sandbox])
    const one = modelEntry.parse(await (await flows.get(`/v1/models/${sandbox}`)).json())
    expect(one).toEqual(data[1])
    expect(one).toMatchObject({
      name: 'Summaries',
      description: 'Makes them',
      owned_by: nameOf(tenant.project),
      context_length: 16_384,
      max_output_tokens: 8_192,
      supported_parameters: ['stream', 'stream_options'],
      pricing: { unit: 'execution', prompt: '0', completion: '0', request: '0' },
      service: { kind: 'sandbox', revision: 1, invoke: `/v1/sandbox/${sandbox}/invoke` },
    })
  })

  // spec: 4.2/r1
  test('applies stop and max_tokens to its text, whole and streamed', async ({ tenant, flows, say }) => {
    const sandbox = await flows.save(echo)
    const text = 'One house, two houses, three houses.'
    for (const [fields, content, finish] of [
      [{ stop: ['two'] }, 'One house, ', 'stop'],
      [{ max_tokens: 2 }, 'One house', 'length'],
      [{ max_tokens: 100 }, text, 'stop'],
    ] as const)
      for (const stream of [false, true]) {
        const answer = await say(sandbox, text, { ...fields, stream })
        const said = stream ? streamed(await answer.text()) : wholeOf(await answer.json())
        expect(said).toEqual([content, finish])
      }
    expect(await tenant.settled()).toBe(0)
  })

  // spec: 0/s3, 2.2/r17, 2.5/s3, 4.2/r1, 4.2/s8, 4.2/s9
  test('responds like a model and reports its execution ID and charge', async ({ tenant, flows, say }) => {
    const sandbox = await flows.save(chain(tenant.model, 1))
    const answer = await say(sandbox, newPrompt(), { temperature: 1.5, stop: ['ß'], max_tokens: 500, user: 'someony' })
    expect(answer.status).toBe(200)
    const body = (await answer.json()) as { id: string; service: { charged_micro: number }; usage: object }
    const record = await recordOf(await flows.get(`/v1/executions/${body.id}`))
    expect(body).toEqual({
      id: expect.stringMatching(/^exe_/) as string,
      object: 'chat.completion',
      created: Math.floor(Date.parse(record.completedAt!) / 1000),
      model: sandbox,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: record.output!['text'], refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: expect.any(Object) as object,
      service: {
        kind: 'sandbox',
        execution_id: body.id,
        project: tenant.project,
        charged_micro: record.chargedMicro,
      },
    })
    expect(answer.headers.get('x-service-invocation')).toBe(body.id)
    expect(await tenant.settled()).toBe(record.chargedMicro)
    // 1 micro-USD per prompt token, 2 per completion token
    const usage = body.usage as Record<'prompt_tokens' | 'completion_tokens' | 'total_tokens', number>
    expect(usage).toMatchObject({ cost: record.chargedMicro / 1_000_000, cost_micro: record.chargedMicro })
    expect(usage.prompt_tokens + 2 * usage.completion_tokens).toBe(record.chargedMicro)
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens)
  })

  test('receives several messages as blocks of one text', async ({ tenant, flows }) => {
    const sandbox = await flows.save(echo)
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    ]
    const answer = (await (await tenant.chat({ model: sandbox, messages })).json()) as {
      choices: { message: { content: string } }[]
      usage: object
    }
    expect(answer.choices[0]!.message.content).toBe('system: Be brief.\n\nuser: Hello')
    expect(answer.usage).toEqual({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      cost: 0,
      cost_micro: 0,
    })
  })

  // spec: 4.2/s10
  test('streams its text in one chunk and describes its execution in the last chunk', async ({
    tenant,
    flows,
    say,
  }) => {
    const sandbox = await flows.save(echo)
    for (const options of [null, { include_usage: true }]) {
      const answer = await say(sandbox, 'Hello', { stream: true, stream_options: options })
      expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
      const events = (await answer.text()).split('\n\n').filter((event) => event !== '')
      expect(events.at(-1)).toBe('data: [DONE]')
      const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice('data: '.length)) as Chunk)
      const said = chunks.flatMap(({ choices }) => choices).filter(({ delta }) => delta.content !== undefined)
      expect(said).toEqual([{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }])
      expect(chunks.flatMap(({ choices }) => choices).at(-1)!.finish_reason).toBe('stop')
      const id = answer.headers.get('x-service-invocation')
      expect(chunks.map((chunk) => chunk.id)).toEqual(chunks.map(() => id))
      const service = { kind: 'sandbox', execution_id: id, project: tenant.project, charged_micro: 0 }
      expect(chunks.map((chunk) => chunk.service)).toEqual([...chunks.slice(1).map(() => undefined), service])
      const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, cost: 0, cost_micro: 0 }
      expect(chunks.map((chunk) => chunk.usage)).toEqual(options === null ? [undefined, usage] : [null, null, usage])
    }
  })

  // spec: 4.2/s17
  test('replays the same bytes under an idempotency key and executes again without one', async ({
    tenant,
    flows,
    say,
  }) => {
    const sandbox = await flows.save(chain(tenant.model))
    const text = newPrompt()
    for (const stream of [false, true]) {
      const headers = { 'idempotency-key': newKey() }
      const [first, second] = [
        await say(sandbox, text, { stream }, headers),
        await say(sandbox, text, { stream, project_id: tenant.project }, headers),
      ]
      expect(second.headers.get('idempotent-replayed')).toBe('true')
      expect(second.headers.get('x-service-invocation')).toBe(first.headers.get('x-service-invocation'))
      expect(await second.text()).toBe(await first.text())
    }
    expect(await flows.executions()).toBe(2)
    await (await say(sandbox, text)).text()
    await (await say(sandbox, text)).text()
    expect(await flows.executions()).toBe(4)
  })

  test('shares one idempotency key namespace with chats to any other model [idempotency_mismatch]', async ({
    tenant,
    flows,
    say,
  }) => {
    const sandbox = await flows.save(echo)
    for (const [first, second] of [
      [sandbox, tenant.model],
      [tenant.model, sandbox],
      [sandbox, await flows.save(echo)],
    ] as const) {
      const headers = { 'idempotency-key': newKey() }
      expect((await say(first, 'Hello', {}, headers)).status).toBe(200)
      const [executions, charged] = [await flows.executions(), await tenant.settled()]
      const answer = await say(second, 'Hello', {}, headers)
      expect(answer.status).toBe(422)
      expect(await errorOf(answer)).toMatchObject({ code: 'idempotency_mismatch' })
      expect((await say(first, 'Hello', {}, headers)).headers.get('idempotent-replayed')).toBe('true')
      expect([await flows.executions(), await tenant.settled()]).toEqual([executions, charged])
    }
  })

  test('admits one of two concurrent chats under one idempotency key, to a product and to a flow', async ({
    tenant,
    flows,
    say,
  }) => {
    const sandbox = await flows.save(echo)
    const ends: unknown[] = []
    for (let n = 0; n < 20; n++) {
      const headers = { 'idempotency-key': newKey() }
      const models = n % 2 === 0 ? [sandbox, tenant.model] : [tenant.model, sandbox]
      const answers = await Promise.all(models.map((model) => say(model, 'Hello', {}, headers)))
      ends.push(answers.map(({ status }) => status).toSorted((a, b) => a - b))
      for (const answer of answers) await answer.text()
      const repeats = await Promise.all(models.map((model) => say(model, 'Hello', {}, headers)))
      expect(repeats.map(({ status }) => status)).toEqual(answers.map(({ status }) => status))
    }
    expect(ends).toEqual(ends.map(() => [200, 422]))
  })

  test('keeps the idempotency keys of invocations separate from those of chats', async ({ flows, say }) => {
    const sandbox = await flows.save(echo)
    const headers = { 'idempotency-key': newKey() }
    for (const replayed of [null, 'true']) {
      const [invoked, said] = [
        await flows.invoke(sandbox, { text: 'Hello' }, { headers }),
        await say(sandbox, 'Hello', {}, headers),
      ]
      expect([invoked.status, said.status]).toEqual([200, 200])
      expect([invoked, said].map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([replayed, replayed])
    }
    expect(await flows.executions()).toBe(2)
  })

  // spec: 4.2/s5
  test('accepts text up to its published context length and refuses longer text [context_limit]', async ({
    flows,
    say,
  }) => {
    const sandbox = await flows.save(echo)
    const entry = modelEntry.parse(await (await flows.get(`/v1/models/${sandbox}`)).json())
    const { context_length, max_output_tokens } = entry
    const bytes = (context_length - max_output_tokens) * 8
    const fits = await say(sandbox, 'x'.repeat(bytes))
    expect(fits.status).toBe(200)
    await fits.text()
    const long = await say(sandbox, 'x'.repeat(bytes + 1))
    expect(long.status).toBe(422)
    expect(await errorOf(long)).toMatchObject({
      code: 'context_limit',
      param: 'messages',
      message: expect.stringContaining(`maximum context length is ${context_length} tokens`) as string,
      resolution: 'Shorten the messages.',
      details: { promptTokens: context_length - max_output_tokens + 1, outputCap: max_output_tokens },
    })
    expect(await flows.executions()).toBe(1)
  })
})

describe('a chat whose execution fails', () => {
  test('returns the error of the execution with its charge, and the same error to a repeat [provider_failed]', async ({
    stack,
    fixture,
    tenant,
    flows,
    say,
  }) => {
    const bad = await tenant.sell()
    const graph = chain(tenant.model, 1)
    const sandbox = await flows.save({
      ...graph,
      nodes: graph.nodes.map((node) => (node.id === 'step1' ? { ...node, product: bad } : node)),
    })
    await fixture.run(
      `UPDATE control.products SET providers = '[{"provider":"simulated","model":"broken","priority":1}]' WHERE id = $1`,
      [bad],
    )
    await stack.provider.control.setFaults([{ model: 'broken', status: 500 }])
    const headers = { 'idempotency-key': newKey() }
    const text = newPrompt()
    const answer = await say(sandbox, text, {}, headers)
    expect(answer.status).toBe(502)
    expect(answer.headers.get('x-should-retry')).toBe('false')
    const id = answer.headers.get('x-service-invocation')
    const error = await errorOf(answer)
    const charged = await tenant.settled()
    expect(charged).toBeGreaterThan(0)
    expect(error).toMatchObject({ code: 'provider_failed', details: { execution: id, chargedMicro: charged } })
    expect(error['message']).toContain(`was charged ${usd(charged)}`)
    expect(error['message']).not.toContain('Nothing is charged')
    expect(error['resolution']).toContain('new Idempotency-Key')
    const repeat = await say(sandbox, text, {}, headers)
    expect(repeat.headers.get('idempotent-replayed')).toBe('true')
    expect(await errorOf(repeat)).toEqual(error)
    expect(await tenant.settled()).toBe(charged)

    const stream = await say(sandbox, newPrompt(), { stream: true })
    expect([stream.status, (await errorOf(stream))['code']]).toEqual([502, 'provider_failed'])
  })
})

test('a stream that waits for its execution opens after ten seconds and reports a failure as its last event [provider_failed]', async ({
  stack,
  tenant,
  flows,
  say,
}) => {
  const sandbox = await flows.save(chain(tenant.model))
  const text = newPrompt()
  await stack.provider.control.setFaults([{ prompt: text, hold: true, status: 500 }])
  const answer = await say(sandbox, text, { stream: true })
  expect(answer.status).toBe(200)
  await stack.provider.control.release()
  const events = (await answer.text()).split('\n\n').filter((event) => event.startsWith('data: '))
  expect(events).toHaveLength(1)
  expect(JSON.parse(events[0]!.slice('data: '.length))).toMatchObject({ error: { code: 'provider_failed' } })
})

describe('a chat to a sandbox product is refused', () => {
  // spec: 4.2/s11, 7/r10
  test('if the flow is not text in, text out [sandbox_contract]', async ({ tenant, flows, say }) => {
    for (const graph of [ask(tenant.model), sameImage]) {
      const sandbox = await flows.save(graph)
      const answer = await say(sandbox, 'Hello')
      expect(answer.status).toBe(422)
      const error = await errorOf(answer)
      expect(error).toMatchObject({ code: 'sandbox_contract' })
      expect(error['resolution']).toContain(`/v1/sandbox/${sandbox}/invoke`)
    }
    expect(await flows.executions()).toBe(0)
  })
})
