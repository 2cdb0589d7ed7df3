import {
  messageErrorShape,
  messageEventShape,
  messageShape,
  tokenCountShape,
} from '@gateway/api/wires/messages/messages-shapes'
import { refusalAnswer } from '@gateway/api/answer-shapes'
import { describe, expect } from 'vitest'
import { echo, flowTest } from '../../flow-stack.fixture.ts'
import { newPrompt } from '../../stack.fixture.ts'

// The Messages wire through a real gateway: everything behind the wire is that of chat completions.

const hi = (content: unknown = newPrompt()) => [{ role: 'user', content }]

const test = flowTest
  .extend(
    'ask',
    ({ tenant }) =>
      (fields: object, headers: Record<string, string> = {}, path = '/v1/messages') =>
        fetch(`${tenant.url}${path}`, {
          method: 'POST',
          body: JSON.stringify({ model: tenant.model, messages: hi(), max_tokens: 50, ...fields }),
          headers: { 'content-type': 'application/json', 'x-api-key': tenant.secret, ...headers },
        }),
  )
  .extend(
    'count',
    ({ tenant }) =>
      async (fields: object) =>
        fetch(`${tenant.url}/v1/messages/count_tokens`, {
          method: 'POST',
          body: JSON.stringify({ model: tenant.model, messages: hi('Tell me of rivers.'), ...fields }),
          headers: tenant.headers,
        }),
  )

const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => messageEventShape.parse(JSON.parse(event.slice(event.indexOf('data: ') + 6))))

/** Text and usage of a stream. */
function readStream(text: string) {
  const events = eventsOf(text)
  const said = events.map((event) =>
    event.type === 'content_block_delta' && 'text' in event.delta ? event.delta.text : '',
  )
  const end = events.find(({ type }) => type === 'message_delta') as Extract<
    (typeof events)[number],
    { type: 'message_delta' }
  >
  return { text: said.join(''), usage: end.usage, service: end.service }
}

function readWhole(text: string) {
  const { content, usage, service } = messageShape.parse(JSON.parse(text))
  return { text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''), usage, service }
}

describe('POST /v1/messages', () => {
  test('responds, whole and as a stream, and is charged what it reports', async ({ ask, tenant }) => {
    let charged = 0
    for (const stream of [false, true]) {
      const answer = await ask({ stream, system: 'Be brief.' })
      expect(answer.status).toBe(200)
      const { text, usage } = (stream ? readStream : readWhole)(await answer.text())
      expect(text.length).toBeGreaterThan(10)
      expect(usage.input_tokens + usage.cache_read_input_tokens! + 2 * usage.output_tokens).toBe(usage.cost_micro)
      charged += usage.cost_micro!
    }
    expect(await tenant.settled()).toBe(charged)
  })

  // spec: 5/s1
  test('replays a stream byte for byte, and refuses its key for another wire [idempotency_mismatch]', async ({
    ask,
    tenant,
  }) => {
    const messages = hi()
    const headers = { 'idempotency-key': `key-${messages[0]!.content as string}` }
    const first = await (await ask({ messages, stream: true }, headers)).text()
    const again = await ask({ messages, stream: true }, headers)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.text()).toBe(first)
    const other = await tenant.chat({ messages, max_tokens: 50, stream: true }, { headers })
    expect(refusalAnswer.parse(await other.json()).error.code).toBe('idempotency_mismatch')
    expect(await tenant.settled()).toBe(readStream(first).usage.cost_micro)
  })

  test('calls tools, and takes their results and its own blocks back', async ({ ask, stack, tenant }) => {
    const model = await tenant.sell({ supportedParameters: ['tools', 'tool_choice'] })
    const tools = [{ name: 'look_up', input_schema: { type: 'object', properties: {} } }]
    const messages: object[] = hi()
    const answer = await ask({ model, messages, tools, tool_choice: { type: 'any' } })
    const { content, stop_reason: reason } = messageShape.parse(await answer.json())
    expect(reason).toBe('tool_use')
    const use = content.find(({ type }) => type === 'tool_use') as { id: string }
    const result = { type: 'tool_result', tool_use_id: use.id, content: 'It is found.' }
    messages.push({ role: 'assistant', content }, { role: 'user', content: [result] })
    expect(readWhole(await (await ask({ model, messages, tools })).text()).text).not.toBe('')
    const sent = (await stack.provider.control.calls({})).at(-1)!.body!
    expect((JSON.parse(sent) as { messages: object[] }).messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: use.id }] },
      { role: 'tool', tool_call_id: use.id, content: 'It is found.' },
    ])
  })

  test('sends an image, and refuses one that its model does not take', async ({ ask, stack, tenant }) => {
    const data = Buffer.alloc(300_000, 7).toString('base64')
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
    const prompt = newPrompt()
    const messages = hi([{ type: 'text', text: prompt }, image])
    const model = await tenant.sell({ maxTokensPerImage: 100 })
    expect((await ask({ model, messages })).status).toBe(200)
    const [call] = await stack.provider.control.calls({ prompt })
    const { hash } = await import('node:crypto')
    expect(call!.images).toEqual([hash('sha256', Buffer.from(data, 'base64'))])
    expect((await ask({ messages })).status).toBe(400)
  })

  test('thinks with a model that reasons, and answers without with one that does not', async ({
    ask,
    tenant,
    stack,
  }) => {
    const thinking = { type: 'enabled', budget_tokens: 1_024 }
    const thinks = await tenant.sell({ supportedParameters: ['reasoning_effort'] })
    for (const [model, effort] of [
      [thinks, 'low'],
      [tenant.model, undefined],
    ] as const) {
      const prompt = newPrompt()
      expect((await ask({ model, messages: hi(prompt), thinking })).status).toBe(200)
      const [call] = await stack.provider.control.calls({ prompt })
      expect((JSON.parse(call!.body!) as { reasoning_effort?: string }).reasoning_effort).toBe(effort)
    }
  })

  test('refuses in the shape of its wire, by its own fields, and charges nothing [invalid_request, key_missing]', async ({
    ask,
    tenant,
  }) => {
    const plain = await tenant.sell({ supportedParameters: [] })
    const format = { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }
    for (const [fields, headers, status, error] of [
      [{ ...format, model: plain }, {}, 400, { type: 'invalid_request_error', param: 'output_config.format' }],
      [{ max_tokens: 0 }, {}, 400, { type: 'invalid_request_error', param: 'max_tokens' }],
      [{ model: 'no/such' }, {}, 404, { type: 'not_found_error', code: 'model_not_found' }],
      [{}, { 'x-api-key': '' }, 401, { type: 'authentication_error' }],
      [{}, { 'x-api-key': 'svc_wrong' }, 401, { type: 'authentication_error', code: 'key_invalid' }],
      [{}, { authorization: 'Bearer svc_other' }, 400, { param: 'x-api-key' }],
    ] as const) {
      const answer = await ask(fields, headers)
      expect(answer.status).toBe(status)
      expect(messageErrorShape.parse(await answer.json()).error).toMatchObject(error)
    }
    expect((await tenant.wallet()).settled).toBe(0)
  })

  test('takes its key in x-api-key, as the model list does, and chat completions does not [key_missing]', async ({
    ask,
    tenant,
  }) => {
    const models = await fetch(`${tenant.url}/v1/models`, { headers: { 'x-api-key': tenant.secret } })
    expect(models.status).toBe(200)
    expect((await ask({}, {}, '/v1/chat/completions')).status).toBe(401)
  })

  test('refuses other paths below its own in its shape [not_found]', async ({ ask }) => {
    const answer = await ask({}, {}, '/v1/messages/batches')
    expect(answer.status).toBe(404)
    expect(messageErrorShape.parse(await answer.json()).error).toMatchObject({ type: 'not_found_error' })
  })

  test('ends with an error event if its provider breaks off', async ({ ask, stack }) => {
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, cut: { afterChunk: 2 } }])
    const events = eventsOf(await (await ask({ messages: hi(prompt), stream: true })).text())
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'api_error', code: 'provider_failed' } })
  })

  test('runs a sandbox product like a model', async ({ ask, flows }) => {
    const model = await flows.save(echo)
    for (const stream of [false, true]) {
      const text = await (await ask({ model, messages: hi('Hello'), stream })).text()
      expect((stream ? readStream : readWhole)(text)).toMatchObject({ text: 'Hello', service: { kind: 'sandbox' } })
    }
  })
})

test('POST /v1/messages/count_tokens counts the text of a request, and charges nothing [model_not_found]', async ({
  count,
  tenant,
}) => {
  const tokensOf = async (fields: object) => tokenCountShape.parse(await (await count(fields)).json()).input_tokens
  const short = await tokensOf({})
  expect(short).toBeGreaterThan(4)
  expect(await tokensOf({ system: 'Answer in one short sentence, and in French.' })).toBeGreaterThan(short + 5)
  const unknown = await count({ model: 'no/such' })
  expect(messageErrorShape.parse(await unknown.json()).error.code).toBe('model_not_found')
  expect(await tenant.wallet()).toEqual({ reserved: 0, settled: 0 })
})
