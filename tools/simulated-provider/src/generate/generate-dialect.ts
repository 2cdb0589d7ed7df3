import type { Dialect } from '../dialect.ts'
import type { ChatAnswer } from '../compose-chat.ts'
import { argumentsOf } from '../fit-schema.ts'

/** Google's generateContent format, with streams as server-sent events. */
export const generateDialect: Dialect = {
  headers: (callId) => ({
    server: 'simulated-provider/1.0',
    'x-request-id': `req_sim${callId}`,
    'server-timing': 'gfet4t7; dur=7',
    'set-cookie': 'sim_cookie=1; path=/',
  }),
  errorBody,
  wrongRequest: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  opening: '',
  garbage: 'data: {"candidates": [{"content": {"par\n\n',
  errorEvent: (callId) => `data: ${JSON.stringify(errorBody(503, callId))}\n\n`,
  aroundFiller: () => ['data: {"candidates":[{"content":{"role":"model","parts":[{"text":"', '"}]}}]}\n\n'],
}

const words: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

function errorBody(status: number, callId: string): object {
  const message = `The simulated-provider answered ${status} to simulated-org-4711 (request req_sim${callId}).`
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: status === 429 ? 'RATE_LIMIT_EXCEEDED' : 'SIM_REASON',
    domain: 'googleapis.com',
  }
  return { error: { code: status, message, status: words[status] ?? 'INTERNAL', details: [info] } }
}

/** The body of a response that isn't streamed. */
export function responseBody(model: string, answer: ChatAnswer): string {
  const { reasoning, content } = answer
  const parts = [
    ...(reasoning.length > 0 ? [{ text: reasoning.join(''), thought: true }] : []),
    ...(content.length > 0 ? [signed(answer, { text: content.join('') })] : []),
    ...callParts(answer),
  ]
  return JSON.stringify(response(model, answer, parts, true))
}

/**
 * One piece of the response per event, the first of them empty, as thinking models start; the last one has the finish
 * reason.
 */
export function responseEvents(
  model: string,
  answer: ChatAnswer,
): { content: string[]; ending: string[]; marker: string } {
  const piece = (parts: object[]) => eventOf(response(model, answer, parts, false))
  const { reasoning, content } = answer
  return {
    content: [
      piece([{ text: '' }]),
      ...reasoning.map((text) => piece([{ text, thought: true }])),
      ...content.map((text) => piece([{ text }])),
      ...callParts(answer).map((part) => piece([part])),
    ],
    ending: [eventOf(response(model, answer, answer.toolCall ? [] : [signed(answer, { text: '' })], true))],
    marker: '',
  }
}

function eventOf(body: object): string {
  return `data: ${JSON.stringify(body)}\r\n\r\n`
}

function callParts({ toolCall, random }: ChatAnswer): object[] {
  if (!toolCall) return []
  const { id, name, arguments: given } = toolCall
  return [
    {
      functionCall: { id, name, args: argumentsOf(given.join('')) },
      thoughtSignature: `sim_signature${random.hex(16)}`,
    },
  ]
}

function signed({ reasoning, random }: ChatAnswer, part: object): object {
  return reasoning.length === 0 ? part : { ...part, thoughtSignature: `sim_signature${random.hex(16)}` }
}

const finishReasons = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP', content_filter: 'SAFETY' }

function response(model: string, answer: ChatAnswer, parts: object[], ended: boolean): object {
  const { usage, finish } = answer
  return {
    candidates: [
      {
        content: { ...(parts.length > 0 && { parts }), role: 'model' },
        index: 0,
        ...(ended && { finishReason: finishReasons[finish], safetyRatings: [] }),
      },
    ],
    ...(usage && { usageMetadata: counts(usage, ended) }),
    modelVersion: `${model}-2026-08-06`,
    responseId: 'req_sim-generate',
  }
}

/** Leaves out zeros. Part of the prompt was read from the cache. */
function counts({ prompt, completion, reasoning }: NonNullable<ChatAnswer['usage']>, ended: boolean): object {
  const cached = Math.floor(prompt / 4)
  const said = completion - reasoning
  return {
    promptTokenCount: prompt,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(ended && said > 0 && { candidatesTokenCount: said }),
    ...(ended && reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: prompt + (ended ? completion : 0),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
  }
}
