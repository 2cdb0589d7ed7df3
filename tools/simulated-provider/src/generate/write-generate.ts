import type { ChatAnswer } from '../compose-chat.ts'
import { argumentsOf } from '../tool-arguments.ts'

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
