import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { refusalBody } from './api/answer-shapes.ts'
import { chatBody, readChatRequest, type ChatRequest } from './chat-request.ts'
import { id } from './console/fields.ts'
import { invalidField } from './field-problem.ts'
import { chatLimits } from './limits.ts'

// "Would this call be admitted now?" The ledger decides as it does for an admission, and reserves nothing (rules
// §2.10).

const { messages, max_tokens: maxTokens } = chatBody.shape

export const checkBody = z
  .strictObject({
    model: id.describe(
      'a chat or embedding model. A sandbox product is refused, because each of its calls is decided separately',
    ),
    maxTokens: maxTokens.describe('max_tokens of the call; without it, the output limit of the model, up to 8192'),
    promptBytes: z
      .int()
      .min(0)
      .max(chatLimits.forwardedBytes)
      .optional()
      .describe('bytes of one message and all forwarded fields, as compact JSON; 0 by default'),
    messages: messages.optional().describe('messages of the call, instead of promptBytes'),
  })
  .refine(({ promptBytes, messages: given }) => promptBytes === undefined || given === undefined, {
    path: ['promptBytes'],
    error: 'goes without messages',
  })
  .meta({ examples: [{ model: exampleIds.product, maxTokens: 300, promptBytes: 2_000 }] })
export type CheckBody = z.infer<typeof checkBody>

/** The question put to the ledger, without the caller. */
export interface CheckedCall {
  /** Null if only the size is known: the tokens cannot be counted. */
  request: ChatRequest | null
  model: string
  parameters: string[]
  promptSize: Pick<ChatRequest['promptSize'], 'bytes' | 'messages' | 'tools' | 'images' | 'files'> & {
    counted: number | null
    maxTokens: number | null
  }
}

/** @throws Refusal `invalid_request` */
export function readCheck({ model, messages: given, maxTokens: max, promptBytes = 0 }: CheckBody): CheckedCall {
  if (model.startsWith('sbx-'))
    throw invalidField(
      'model',
      'is a sandbox product, whose calls are each decided when they are made',
      'name a chat model; what a sandbox product calls is in its graph',
    )
  if (given === undefined) {
    const around = { messages: 1, tools: 0, images: 0, files: 0 }
    const promptSize = { bytes: promptBytes, ...around, counted: null, maxTokens: max ?? null }
    return { request: null, model, parameters: [], promptSize }
  }
  const request = readChatRequest({ model, messages: given, ...(max !== undefined && { max_tokens: max }) })
  const promptSize = { ...request.promptSize, counted: null, maxTokens: request.maxTokens }
  return { request, model, parameters: request.conditional, promptSize }
}

/** Rules of an admission, in the order in which the ledger checks them (rules §2.3). */
export const admissionRules = [
  'key',
  'binding',
  'issuer',
  'project',
  'model',
  'allowlist',
  'request',
  'context',
  'limit',
  'budget',
  'wallet',
] as const
export type AdmissionRule = (typeof admissionRules)[number]

export const admissionCheck = z
  .strictObject({
    admitted: z.boolean().describe('whether a call like this would be admitted now'),
    model: z.string(),
    boundMicro: z
      .int()
      .min(0)
      .nullable()
      .describe(
        'micro-USD that the call would reserve, which is its max cost; null if it is refused before that is known',
      ),
    outputCap: z
      .int()
      .min(0)
      .nullable()
      .describe('max output tokens that would be sent to the provider; null as above'),
    counted: z
      .boolean()
      .describe('whether the tokens of the prompt were counted, because its bytes alone would have been refused'),
    rules: z.array(z.strictObject({ rule: z.enum(admissionRules), outcome: z.enum(['pass', 'fail', 'not_reached']) })),
    refusal: refusalBody.nullable().describe('refusal that the call would get, by the first rule that fails'),
  })
  .meta({
    examples: [
      {
        admitted: true,
        model: exampleIds.product,
        boundMicro: 424,
        outputCap: 300,
        counted: false,
        rules: admissionRules.map((rule) => ({ rule, outcome: 'pass' })),
        refusal: null,
      },
    ],
  })
export type AdmissionCheck = z.infer<typeof admissionCheck>
