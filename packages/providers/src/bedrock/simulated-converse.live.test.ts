import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime'
import { startSimulatedProvider } from '@gateway/simulated-provider/start-provider'
import { afterAll, expect, test } from 'vitest'

// Calls the simulated provider with AWS's own client, to verify that it speaks the wire format as AWS reads it.

const provider = await startSimulatedProvider()
afterAll(provider.stop)

interface SentRequest {
  protocol: string
  hostname: string
  port?: number
  path: string
  headers: Record<string, string>
  body: string
}

const client = new BedrockRuntimeClient({
  region: 'us-east-1',
  endpoint: provider.url,
  token: { token: 'key' },
  authSchemePreference: ['httpBearerAuth'],
  maxAttempts: 1,
  requestHandler: {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request: SentRequest) {
      const { protocol, hostname, port, path, headers, body } = request
      const answer = await fetch(`${protocol}//${hostname}:${port}${path}`, { method: 'POST', headers, body })
      return {
        response: {
          statusCode: answer.status,
          headers: Object.fromEntries(answer.headers),
          body: Readable.fromWeb(answer.body as ReadableStream),
        },
      }
    },
  } as never,
})

const asked = {
  modelId: 'sim-think',
  messages: [{ role: 'user' as const, content: [{ text: 'Name a harbour' }] }],
  inferenceConfig: { maxTokens: 500 },
}
const tool = { toolSpec: { name: 'look_up', inputSchema: { json: { type: 'object', properties: {} } } } }

test('the AWS client reads the same from a response and from a stream', async () => {
  const { output, stopReason, usage } = await client.send(new ConverseCommand(asked))
  const whole = output?.message?.content?.map((block) => block.text ?? '').join('')
  expect([whole?.includes('harbour'), stopReason]).toEqual([true, 'end_turn'])

  const said = { text: '', thought: '', signature: '', stop: '', tokens: 0 }
  const { stream } = await client.send(new ConverseStreamCommand(asked))
  for await (const { contentBlockDelta, messageStop, metadata } of stream ?? []) {
    const delta = contentBlockDelta?.delta
    said.text += delta?.text ?? ''
    said.thought += delta?.reasoningContent?.text ?? ''
    said.signature += delta?.reasoningContent?.signature ?? ''
    said.stop += messageStop?.stopReason ?? ''
    said.tokens += metadata?.usage?.totalTokens ?? 0
  }
  const [reasoning] = output?.message?.content ?? []
  expect(said).toEqual({
    text: whole,
    thought: reasoning?.reasoningContent?.reasoningText?.text,
    signature: reasoning?.reasoningContent?.reasoningText?.signature,
    stop: 'end_turn',
    tokens: usage?.totalTokens,
  })
})

test('the AWS client reads a tool call', async () => {
  const { output, stopReason } = await client.send(new ConverseCommand({ ...asked, toolConfig: { tools: [tool] } }))
  expect(stopReason).toBe('tool_use')
  expect(output?.message?.content?.at(-1)?.toolUse).toMatchObject({ name: 'look_up' })
})

test('the AWS client reads errors as their exceptions', async () => {
  await provider.control.setFaults([{ status: 429 }])
  await expect(client.send(new ConverseCommand(asked))).rejects.toMatchObject({ name: 'ThrottlingException' })
  await provider.control.setFaults([{ errorEvent: { afterChunk: 3 } }])
  const { stream } = await client.send(new ConverseStreamCommand(asked))
  const reading = (async () => {
    for await (const _event of stream ?? []);
  })()
  await expect(reading).rejects.toMatchObject({ name: 'ServiceUnavailableException' })
  await provider.control.clearFaults()
})
