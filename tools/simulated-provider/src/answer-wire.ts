import { chatDialect } from './chat-dialect.ts'
import { composeChat } from './compose-chat.ts'
import type { Dialect } from './dialect.ts'
import { drawPng } from './draw-png.ts'
import type { FaultRule } from './fault-rule.ts'
import { messagesDialect } from './messages/messages-dialect.ts'
import { readMessagesRequest } from './messages/read-messages-request.ts'
import { messageBody, messageEvents } from './messages/write-message.ts'
import { readChatRequest } from './read-chat-request.ts'
import { voiceWav } from './voice-wav.ts'
import { chunkEvents, completionBody } from './write-chat.ts'

/** What an endpoint answers when nothing is wrong: one body, or the events of a stream as they are on the wire. */
export type Answer =
  | { kind: 'body'; contentType: string; bytes: Buffer }
  | {
      kind: 'events'
      /** What is said. */
      content: string[]
      /** Finish reason and usage. */
      ending: string[]
      /** What says that nothing follows. */
      marker: string
    }

/** What a request asks for: enough to log it and to find its fault, and how to answer it. */
export interface WireRequest {
  model: string
  prompt: string
  stream: boolean
  answer(rule: FaultRule | null): Answer
}

type Fields = Record<string, unknown>

export interface Endpoint {
  /** Throws an error that says what is wrong with the request. */
  read: (body: Fields) => WireRequest
  dialect: Dialect
}

/** The wire endpoints by path. */
export const wireEndpoints: Record<string, Endpoint> = {
  '/v1/chat/completions': { read: readChat, dialect: chatDialect },
  '/v1/messages': { read: readMessages, dialect: messagesDialect },
  '/v1/images/generations': { read: readImage, dialect: chatDialect },
  '/v1/audio/speech': { read: readSpeech, dialect: chatDialect },
}

function readChat(body: Fields): WireRequest {
  const request = readChatRequest(body)
  const { model, prompt, stream, includeUsage } = request
  return {
    model,
    prompt,
    stream,
    answer(rule) {
      const answer = composeChat(request, rule)
      return stream
        ? { kind: 'events', ...chunkEvents(model, answer, includeUsage) }
        : json(completionBody(model, answer))
    },
  }
}

function readMessages(body: Fields): WireRequest {
  const request = readMessagesRequest(body)
  const { model, prompt, stream } = request
  return {
    model,
    prompt,
    stream,
    answer(rule) {
      const answer = composeChat(request, rule)
      return stream ? { kind: 'events', ...messageEvents(model, answer) } : json(messageBody(model, answer))
    },
  }
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

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function json(text: string): Answer {
  return { kind: 'body', contentType: 'application/json', bytes: Buffer.from(text) }
}
