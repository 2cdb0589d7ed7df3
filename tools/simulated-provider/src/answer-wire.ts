import { chatDialect, chunkEvents, completionBody } from './chat-dialect.ts'
import { composeChat, type ChatAnswer } from './compose-chat.ts'
import { converseDialect, converseBody, converseEvents } from './converse/converse-dialect.ts'
import { readConverseRequest } from './converse/read-converse-request.ts'
import type { Dialect } from './dialect.ts'
import { drawPng } from './draw-png.ts'
import { base64Of, type EmbeddedInput, inputsOf, tokensOf, vectorOf } from './embed.ts'
import type { FaultRule } from './fault-rule.ts'
import { generateDialect, responseBody, responseEvents } from './generate/generate-dialect.ts'
import { readGenerateRequest } from './generate/read-generate-request.ts'
import { messagesDialect, messageBody, messageEvents } from './messages/messages-dialect.ts'
import { readMessagesRequest } from './messages/read-messages-request.ts'
import { readChatRequest, type ChatRequest } from './read-chat-request.ts'
import { readResponsesRequest } from './responses/read-responses-request.ts'
import { responsesDialect, responsesBody, responsesEvents } from './responses/responses-dialect.ts'
import { voiceWav } from './voice-wav.ts'

/** The regular response of an endpoint: one body, or the events of a stream in wire format. */
export type Answer =
  | { kind: 'body'; contentType: string; bytes: Buffer }
  | {
      kind: 'events'
      /** The text. */
      content: string[]
      /** Finish reason and usage. */
      ending: string[]
      /** The end marker. */
      marker: string
    }

/** A parsed request: enough to log it, to find its fault, and to respond. */
export interface WireRequest {
  model: string
  prompt: string
  stream: boolean
  answer(rule: FaultRule | null): Answer
}

type Fields = Record<string, unknown>

export interface Endpoint {
  /** Throws an error that states what is wrong with the request. */
  read: (body: Fields) => WireRequest
  dialect: Dialect
}

/** Returns the wire endpoint at a path with its query, or undefined if there is none. */
export function endpointAt(path: string): Endpoint | undefined {
  if (Object.hasOwn(wireEndpoints, path)) return wireEndpoints[path]
  for (const [form, open] of endpointsWithModel) {
    const { model, act } = form.exec(path)?.groups ?? {}
    if (model !== undefined) return open(decodeURIComponent(model), act ?? '')
  }
  return undefined
}

type OpenEndpoint = (model: string, act: string) => Endpoint

/** Endpoints with the model and the operation in their address. */
const endpointsWithModel: [form: RegExp, open: OpenEndpoint][] = [
  [/^\/v1beta\/models\/(?<model>[^/:]+):(?<act>generateContent|streamGenerateContent\?alt=sse)$/, generateEndpoint],
  [/^\/v1beta\/models\/(?<model>[^/:]+):batchEmbedContents$/, embedContentsEndpoint],
  [/^\/model\/(?<model>[^/]+)\/(?<act>converse|converse-stream)$/, converseEndpoint],
  [
    /^\/openai\/deployments\/(?<model>[^/]+)\/(?<act>chat\/completions|images\/generations|embeddings)\?api-version=[\d-]+$/,
    deploymentEndpoint,
  ],
]

function generateEndpoint(model: string, act: string): Endpoint {
  const stream = act.startsWith('stream')
  return {
    dialect: generateDialect,
    read: (body) =>
      answering(readGenerateRequest(model, stream, body), {
        body: (answer) => responseBody(model, answer),
        events: (answer) => responseEvents(model, answer),
      }),
  }
}

function converseEndpoint(model: string, act: string): Endpoint {
  return {
    dialect: converseDialect,
    read: (body) =>
      answering(readConverseRequest(model, act === 'converse-stream', body), {
        body: converseBody,
        events: converseEvents,
      }),
  }
}

/** The response of a deployment, regardless of the model in the body. */
function deploymentEndpoint(model: string, act: string): Endpoint {
  const read = act === 'chat/completions' ? readChat : act === 'embeddings' ? readEmbeddings : readImage
  return { dialect: chatDialect, read: (body) => read({ ...body, model }) }
}

interface Writers {
  body: (answer: ChatAnswer) => string
  events: (answer: ChatAnswer) => { content: string[]; ending: string[]; marker: string }
}

function answering(request: ChatRequest, { body, events }: Writers): WireRequest {
  const { model, prompt, stream } = request
  return {
    model,
    prompt,
    stream,
    answer(rule) {
      const answer = composeChat(request, rule)
      return stream ? { kind: 'events', ...events(answer) } : json(body(answer))
    },
  }
}

const wireEndpoints: Record<string, Endpoint> = {
  '/v1/chat/completions': { read: readChat, dialect: chatDialect },
  '/v1/messages': { read: readMessages, dialect: messagesDialect },
  '/v1/responses': { read: readResponses, dialect: responsesDialect },
  '/v1/images/generations': { read: readImage, dialect: chatDialect },
  '/v1/embeddings': { read: readEmbeddings, dialect: chatDialect },
  '/v1/audio/speech': { read: readSpeech, dialect: chatDialect },
  '/openai/v1/chat/completions': { read: readChat, dialect: chatDialect },
  '/openai/v1/images/generations': { read: readImage, dialect: chatDialect },
  '/openai/v1/embeddings': { read: readEmbeddings, dialect: chatDialect },
  '/openai/v1/audio/speech': { read: readSpeech, dialect: chatDialect },
}

function readChat(body: Fields): WireRequest {
  const request = readChatRequest(body)
  const { model, includeUsage } = request
  return answering(request, {
    body: (answer) => completionBody(model, answer),
    events: (answer) => chunkEvents(model, answer, includeUsage),
  })
}

function readMessages(body: Fields): WireRequest {
  const request = readMessagesRequest(body)
  const { model } = request
  return answering(request, {
    body: (answer) => messageBody(model, answer),
    events: (answer) => messageEvents(model, answer),
  })
}

function readResponses(body: Fields): WireRequest {
  const request = readResponsesRequest(body)
  const { model } = request
  return answering(request, {
    body: (answer) => responsesBody(model, answer),
    events: (answer) => responsesEvents(model, answer),
  })
}

/** Sizes such as `512x512`, at most 2048 each way; default 256x256. One image, as `b64_json`. */
function readImage(body: Fields): WireRequest {
  const { model, prompt, size, n = 1, response_format: format = 'b64_json' } = body
  if (typeof prompt !== 'string' || prompt === '') throw new Error('prompt must not be empty')
  if (n !== 1) throw new Error('n must be 1')
  if (format !== 'b64_json') throw new Error('response_format must be b64_json')
  const [width = 256, height = 256] = /^\d+x\d+$/.test(String(size)) ? String(size).split('x').map(Number) : []
  if (Math.min(width, height) < 1 || Math.max(width, height) > 2048) throw new Error('size is out of bounds')
  return {
    model: textOf(model),
    prompt,
    stream: false,
    answer: (rule) => {
      const seed = JSON.stringify(body['seed'] ?? null)
      const image = drawPng(`${textOf(model)}\n${prompt}\n${seed}`, width, height, rule?.imageBytes)
      return json(
        JSON.stringify({
          created: 1_770_000_000,
          model: `${textOf(model)}-2026-08-06`,
          provider: 'SimulatedProvider',
          data: [{ b64_json: image.toString('base64'), revised_prompt: prompt }],
        }),
      )
    },
  }
}

function readSpeech(body: Fields): WireRequest {
  const { model, input, voice, response_format: format = 'wav' } = body
  if (typeof input !== 'string' || input === '') throw new Error('input must not be empty')
  if (format !== 'wav') throw new Error('response_format must be wav')
  return {
    model: textOf(model),
    prompt: input,
    stream: false,
    answer: () => ({
      kind: 'body',
      contentType: 'audio/wav',
      bytes: voiceWav(`${textOf(model)}\n${input}`, textOf(voice)),
    }),
  }
}

/** Vectors in OpenAI's format, last input first: `index` tells which is which. */
function readEmbeddings(body: Fields): WireRequest {
  const model = textOf(body['model'])
  const inputs = inputsOf(body['input'])
  const asBase64 = body['encoding_format'] === 'base64'
  return embedding(model, inputs, () => {
    const data = inputs.map((input, index) => {
      const vector = vectorOf(model, input, dimensionsOf(body['dimensions']))
      return { object: 'embedding', index, embedding: asBase64 ? base64Of(vector) : vector }
    })
    const tokens = totalOf(inputs)
    const usage = { prompt_tokens: tokens, total_tokens: tokens }
    return { object: 'list', data: data.toReversed(), model: `${model}-2026-08-06`, usage }
  })
}

function embedContentsEndpoint(model: string): Endpoint {
  return {
    dialect: generateDialect,
    read({ requests }) {
      const asked = requests as { content: { parts: { text: string }[] }; outputDimensionality?: number }[]
      const inputs = inputsOf(asked.map(({ content }) => content.parts[0]!.text))
      return embedding(model, inputs, () => ({
        embeddings: inputs.map((input, n) => ({
          values: vectorOf(model, input, dimensionsOf(asked[n]!.outputDimensionality)),
        })),
        usageMetadata: { promptTokenCount: totalOf(inputs) },
      }))
    },
  }
}

function embedding(model: string, inputs: EmbeddedInput[], body: () => object): WireRequest {
  const prompt = inputs.map((input) => (typeof input === 'string' ? input : input.join(' '))).join('\n')
  return {
    model,
    prompt,
    stream: false,
    answer: (rule) =>
      json(JSON.stringify({ ...body(), ...(rule?.missingUsage && { usage: undefined, usageMetadata: undefined }) })),
  }
}

function totalOf(inputs: EmbeddedInput[]): number {
  return inputs.reduce((sum, input) => sum + tokensOf(input), 0)
}

function dimensionsOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function json(text: string): Answer {
  return { kind: 'body', contentType: 'application/json', bytes: Buffer.from(text) }
}
