import type { Dialect } from '../dialect.ts'
import { crc32 } from 'node:zlib'
import type { ChatAnswer } from '../compose-chat.ts'
import { argumentsOf } from '../fit-schema.ts'

/** Amazon Bedrock's Converse, with streams in its binary frames. */
export const converseDialect: Dialect = {
  headers: (callId) => ({
    'x-amzn-requestid': `req_sim${callId}`,
    'x-amzn-bedrock-invocation-latency': '7',
    'set-cookie': 'sim_cookie=1; path=/',
  }),
  errorHeaders: (status) => ({ 'x-amzn-errortype': exceptions[status] ?? 'InternalServerException' }),
  errorBody: (status, callId) => ({
    message: `The simulated-provider answered ${status} to simulated-org-4711 (request req_sim${callId}).`,
  }),
  wrongRequest: (message) => ({ message }),
  streamType: 'application/vnd.amazon.eventstream',
  opening: '',
  frame: (event) => {
    const [[name, payload] = ['', {}]] = Object.entries(JSON.parse(event) as Record<string, object>)
    const exception = name.endsWith('Exception')
    const kind = exception ? { ':exception-type': name } : { ':event-type': name }
    return frame({ ...kind, ...json(), ':message-type': exception ? 'exception' : 'event' }, JSON.stringify(payload))
  },
  garbage: frame({ ':event-type': 'contentBlockDelta', ...json(), ':message-type': 'event' }, '{"delta":{"te'),
  errorEvent: () => '{"serviceUnavailableException":{"message":"simulated-org-4711 has to wait"}}',
  aroundFiller(bytes) {
    const headers = { ':event-type': 'contentBlockDelta', ...json(), ':message-type': 'event' }
    return [beforePayload(headers, bytes), '\0\0\0\0'] // the checksum is wrong, but no reader gets that far
  },
}

const exceptions: Record<number, string> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
}

function json() {
  return { ':content-type': 'application/json' }
}

/** One frame of an event stream: headers and payload with their checksums. */
function frame(headers: Record<string, string>, payload: string): Buffer {
  const body = Buffer.concat([beforePayload(headers, Buffer.byteLength(payload)), Buffer.from(payload)])
  return Buffer.concat([body, sumOf(body)])
}

/** The bytes before a payload of this size. */
function beforePayload(headers: Record<string, string>, payloadBytes: number): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => headerOf(name, value)))
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(12 + head.length + payloadBytes + 4, 0)
  prelude.writeUInt32BE(head.length, 4)
  return Buffer.concat([prelude, sumOf(prelude), head])
}

function headerOf(name: string, value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)])
}

function sumOf(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}

/** The body of a response that isn't streamed. */
export function converseBody(answer: ChatAnswer): string {
  const { usage } = answer
  return JSON.stringify({
    output: { message: { role: 'assistant', content: blocksOf(answer).map(({ whole }) => whole) } },
    stopReason: stopReasons[answer.finish],
    ...(usage && { usage: counts(usage) }),
    metrics: { latencyMs: 7 },
  })
}

/** Each event as JSON under its name; the dialect encodes them as frames. */
export function converseEvents(answer: ChatAnswer): { content: string[]; ending: string[]; marker: string } {
  const content = [eventOf('messageStart', { role: 'assistant' })]
  blocksOf(answer).forEach(({ start, deltas }, contentBlockIndex) => {
    if (start) content.push(eventOf('contentBlockStart', { contentBlockIndex, start }))
    for (const delta of deltas) content.push(eventOf('contentBlockDelta', { contentBlockIndex, delta }))
    content.push(eventOf('contentBlockStop', { contentBlockIndex }))
  })
  const { usage, finish } = answer
  const ending = [
    eventOf('messageStop', { stopReason: stopReasons[finish] }),
    eventOf('metadata', { ...(usage && { usage: counts(usage) }), metrics: { latencyMs: 7 }, p: 'abcdef' }),
  ]
  return { content, ending, marker: '' }
}

function eventOf(name: string, payload: object): string {
  return JSON.stringify({ [name]: payload })
}

const stopReasons = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'content_filtered',
}

/** Part of the prompt was read from the cache and part written to it: neither counts as input. */
function counts({ prompt, completion }: NonNullable<ChatAnswer['usage']>): object {
  const [read, written] = [Math.floor(prompt / 4), Math.floor(prompt / 8)]
  return {
    inputTokens: prompt - read - written,
    outputTokens: completion,
    totalTokens: prompt + completion,
    cacheReadInputTokens: read,
    cacheWriteInputTokens: written,
  }
}

interface Block {
  whole: object
  start: object | null
  deltas: object[]
}

function blocksOf({ reasoning, content, toolCall, random }: ChatAnswer): Block[] {
  const blocks: Block[] = []
  if (reasoning.length > 0) {
    const signature = `sim_signature${random.hex(16)}`
    blocks.push({
      whole: { reasoningContent: { reasoningText: { text: reasoning.join(''), signature } } },
      start: null,
      deltas: [...reasoning.map((text) => ({ text })), { signature }].map((delta) => ({ reasoningContent: delta })),
    })
  }
  if (content.length > 0)
    blocks.push({ whole: { text: content.join('') }, start: null, deltas: content.map((text) => ({ text })) })
  if (toolCall) {
    const { id, name, arguments: given } = toolCall
    const toolUseId = id.replace('call', 'tooluse')
    blocks.push({
      whole: { toolUse: { toolUseId, name, input: argumentsOf(given.join('')) } },
      start: { toolUse: { toolUseId, name } },
      deltas: given.map((input) => ({ toolUse: { input } })),
    })
  }
  return blocks
}
