import { responseEventShape, responseShape } from '@gateway/api/wires/responses/responses-shapes'
import { refusalAnswer } from '@gateway/api/answer-shapes'
import { describe, expect } from 'vitest'
import { echo, flowTest } from '../../flow-stack.fixture.ts'
import { newPrompt } from '../../stack.fixture.ts'

// The Responses wire through a real gateway: everything behind the wire is that of chat completions.

const test = flowTest.extend(
  'ask',
  ({ tenant }) =>
    (fields: object, headers: Record<string, string> = {}) =>
      fetch(`${tenant.url}/v1/responses`, {
        method: 'POST',
        body: JSON.stringify({ model: tenant.model, input: newPrompt(), ...fields }),
        headers: { ...tenant.headers, ...headers },
      }),
)

const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('event: '))
    .map((event) => responseEventShape.parse(JSON.parse(event.slice(event.indexOf('data: ') + 6))))

/** Returns the response of the last event. */
const endOf = (text: string) =>
  responseShape.parse(
    (eventsOf(text).findLast((event) => 'response' in event) as unknown as { response: unknown }).response,
  )

const textOf = ({ output }: { output: unknown[] }) =>
  (output as { content?: { text?: string }[] }[])
    .flatMap(({ content = [] }) => content.map(({ text }) => text))
    .join('')

describe('POST /v1/responses', () => {
  test('responds, whole and as a stream, and is charged what it reports', async ({ ask, tenant }) => {
    let charged = 0
    for (const stream of [false, true]) {
      const answer = await ask({ stream, instructions: 'Be brief.', max_output_tokens: 50 })
      expect(answer.status).toBe(200)
      const text = await answer.text()
      const response = stream ? endOf(text) : responseShape.parse(JSON.parse(text))
      expect(response).toMatchObject({ status: 'completed', instructions: 'Be brief.', model: tenant.model })
      expect(response.id).toBe(answer.headers.get('x-service-invocation'))
      expect(textOf(response).length).toBeGreaterThan(10)
      charged += response.usage!.cost_micro!
      expect(response.usage!.input_tokens + 2 * response.usage!.output_tokens).toBe(response.usage!.cost_micro)
    }
    expect(await tenant.settled()).toBe(charged)
  })

  // spec: 5/s1
  test('replays a stream byte for byte, and refuses its key for another wire [idempotency_mismatch]', async ({
    ask,
    tenant,
  }) => {
    const content = newPrompt()
    const headers = { 'idempotency-key': `key-${content}` }
    const first = await (await ask({ input: content, stream: true }, headers)).text()
    const again = await ask({ input: content, stream: true }, headers)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await again.text()).toBe(first)
    const charged = endOf(first).usage!.cost_micro
    const other = await tenant.chat({ messages: [{ role: 'user', content }] }, { headers })
    expect(refusalAnswer.parse(await other.json()).error.code).toBe('idempotency_mismatch')
    expect(await tenant.settled()).toBe(charged)
  })

  test('calls tools, and takes their outputs and its own items back', async ({ ask, stack, tenant }) => {
    const model = await tenant.sell({ supportedParameters: ['tools', 'tool_choice'] })
    const tools = [{ type: 'function', name: 'look_up', parameters: { type: 'object', properties: {} } }]
    const input: object[] = [{ role: 'user', content: newPrompt() }]
    const first = responseShape.parse(await (await ask({ model, input, tools, tool_choice: 'required' })).json())
    const call = first.output.find(({ type }) => type === 'function_call') as { call_id: string }
    input.push(...first.output, { type: 'function_call_output', call_id: call.call_id, output: 'It is found.' })
    const second = responseShape.parse(await (await ask({ model, input, tools })).json())
    expect(textOf(second).length).toBeGreaterThan(0)
    const sent = (await stack.provider.control.calls({})).at(-1)!.body!
    expect((JSON.parse(sent) as { messages: object[] }).messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: call.call_id }] },
      { role: 'tool', tool_call_id: call.call_id, content: 'It is found.' },
    ])
  })

  test('leaves parallel_tool_calls out for a model that does not list it', async ({ ask, stack, tenant }) => {
    const tools = [{ type: 'function', name: 'look_up', parameters: { type: 'object', properties: {} } }]
    for (const [listed, sent] of [
      [['tools'], undefined],
      [['tools', 'parallel_tool_calls'], true],
    ] as const) {
      const model = await tenant.sell({ supportedParameters: [...listed] })
      const input = newPrompt()
      expect((await ask({ model, input, tools, parallel_tool_calls: true })).status).toBe(200)
      const [call] = await stack.provider.control.calls({ prompt: input })
      expect(JSON.parse(call!.body!).parallel_tool_calls).toBe(sent)
    }
  })

  test('sends an image, and refuses one that its model does not take', async ({ ask, stack, tenant }) => {
    const url = `data:image/png;base64,${Buffer.alloc(30_000, 7).toString('base64')}`
    const prompt = newPrompt()
    const input = [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: prompt },
          { type: 'input_image', image_url: url },
        ],
      },
    ]
    const model = await tenant.sell({ maxTokensPerImage: 100 })
    expect((await ask({ model, input })).status).toBe(200)
    const [call] = await stack.provider.control.calls({ prompt })
    expect(JSON.parse(call!.body!)).toMatchObject({ messages: [{ content: [{}, { image_url: { url } }] }] })
    expect((await ask({ input })).status).toBe(400)
  })

  test('names its own fields in a refusal, and charges nothing [invalid_request, context_limit]', async ({
    ask,
    tenant,
  }) => {
    for (const [fields, param] of [
      [{ max_output_tokens: 10_000 }, 'max_output_tokens'],
      [{ reasoning: { effort: 'low' } }, 'reasoning.effort'],
      [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    ] as const) {
      const answer = await ask(fields)
      expect(answer.status).toBe(400)
      expect(refusalAnswer.parse(await answer.json()).error).toMatchObject({ code: 'invalid_request', param })
    }
    expect((await tenant.wallet()).settled).toBe(0)
  })

  test('ends with response.failed if its provider breaks off', async ({ ask, stack }) => {
    const prompt = newPrompt()
    await stack.provider.control.setFaults([{ prompt, cut: { afterChunk: 2 } }])
    const answer = endOf(await (await ask({ input: prompt, stream: true })).text())
    expect(answer).toMatchObject({ status: 'failed', error: { code: 'provider_failed' } })
  })

  test('runs a sandbox product like a model', async ({ ask, flows }) => {
    const model = await flows.save(echo)
    for (const stream of [false, true]) {
      const text = await (await ask({ model, input: 'Hello', stream })).text()
      const response = stream ? endOf(text) : responseShape.parse(JSON.parse(text))
      expect(textOf(response)).toBe('Hello')
      expect(response).toMatchObject({ id: expect.stringMatching(/^exe_/) as string, service: { kind: 'sandbox' } })
    }
  })
})
