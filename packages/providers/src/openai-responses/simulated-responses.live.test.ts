import { startSimulatedProvider } from '@gateway/simulated-provider/start-provider'
import OpenAI from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { afterAll, afterEach, describe, expect, test } from 'vitest'

// Calls the simulated provider with OpenAI's own client, to verify that it speaks the wire format as OpenAI reads it.

const provider = await startSimulatedProvider()
afterAll(provider.stop)
afterEach(() => provider.control.clearFaults())

const { responses } = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'key', maxRetries: 0 })

const user = { type: 'message' as const, role: 'user' as const, content: 'Name a harbour' }
const asked = { model: 'sim-think', store: false, max_output_tokens: 500 }
const tools = [
  { type: 'function' as const, name: 'look_up', parameters: { type: 'object', properties: {} }, strict: false },
]

test('the OpenAI client reads the same from a response and from a stream', async () => {
  const whole = await responses.create({ ...asked, input: [user] })
  expect(whole).toMatchObject({ status: 'completed', output_text: expect.stringContaining('harbour') as string })
  expect(whole.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
  const streamed = await responses.stream({ ...asked, input: [user] }).finalResponse()
  expect([streamed.output_text, streamed.usage]).toEqual([whole.output_text, whole.usage])
  expect(streamed.output).toMatchObject(whole.output)
})

test('the OpenAI client reads why a response ended, and errors', async () => {
  expect(await responses.create({ ...asked, max_output_tokens: 3, input: [user] })).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
  })
  await provider.control.setFaults([{ status: 429, times: 1 }, { errorEvent: { afterChunk: 3 } }])
  await expect(responses.create({ ...asked, input: [user] })).rejects.toMatchObject({ status: 429 })
  await expect(responses.stream({ ...asked, input: [user] }).finalResponse()).rejects.toThrow('simulated-provider')
})

describe('a second turn', () => {
  /** Returns the items of a turn with a tool call, as the client sends them back. */
  async function firstTurn() {
    const { output } = await responses.create({ ...asked, tools, input: [user] })
    const [thought, call] = output
    if (thought?.type !== 'reasoning' || call?.type !== 'function_call') throw new Error('there is no tool call')
    const { id, summary, encrypted_content: encrypted } = thought
    const { call_id: callId, name, arguments: json } = call
    return {
      thought: { type: 'reasoning' as const, id, summary, encrypted_content: encrypted! },
      call: { type: 'function_call' as const, call_id: callId, name, arguments: json },
      output: { type: 'function_call_output' as const, call_id: callId, output: 'Bergen' },
    }
  }
  const second = (...items: ResponseInput) => responses.create({ ...asked, tools, input: [user, ...items] })

  test('is answered with the reasoning item of the first', async () => {
    const { thought, call, output } = await firstTurn()
    expect(await second(thought, call, output)).toMatchObject({ status: 'completed' })
  })

  test('is refused if the item is missing, altered or misplaced', async () => {
    const { thought, call, output } = await firstTurn()
    const altered = { ...thought, encrypted_content: `${thought.encrypted_content.slice(0, -1)}x` }
    await expect(second(call, output)).rejects.toThrow('without its required reasoning item')
    await expect(second(altered, call, output)).rejects.toThrow('could not be verified')
    await expect(second({ ...thought, summary: [] }, call, output)).rejects.toThrow('could not be verified')
    await expect(second({ ...thought, id: 'rs_1' }, call, output)).rejects.toThrow('could not be verified')
    await expect(second(call, output, thought)).rejects.toThrow('without its required following item')
  })
})
