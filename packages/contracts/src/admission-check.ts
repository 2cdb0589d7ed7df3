import { z } from 'zod'
import { exampleIds } from './example-ids.ts'
import { refusalBody } from './api/answer-shapes.ts'
import { chatBody, readChatRequest, type ChatRequest } from './chat-request.ts'
import { id } from './console/fields.ts'
import { invalidField } from './field-problem.ts'
import { refusalFor, type LedgerRefusal, type LedgerRefusalCode } from './ledger-refusal.ts'
import { chatLimits } from './limits.ts'
import type { CheckedAdmission } from './ledger-reads.ts'

// "Would this call be admitted now?" The ledger decides it as it decides an admission, and reserves nothing (rules §2.10).

const { messages, max_tokens: maxTokens } = chatBody.shape

export const checkBody = z
  .strictObject({
    model: id.describe('a chat model; a sandbox product is refused, as each of its calls is decided apart'),
    maxTokens: maxTokens.describe('as max_tokens of the call; left out: what the model answers at most, up to 8192'),
    promptBytes: z
      .int()
      .min(0)
      .max(chatLimits.forwardedBytes)
      .optional()
      .describe('of one message, as compact JSON with whatever is forwarded beside it; left out: 0'),
    messages: messages.optional().describe('as the call would send them, in place of promptBytes'),
  })
  .refine(({ promptBytes, messages: given }) => promptBytes === undefined || given === undefined, {
    path: ['promptBytes'],
    error: 'goes without messages',
  })
  .meta({ examples: [{ model: exampleIds.product, maxTokens: 300, promptBytes: 2_000 }] })
export type CheckBody = z.infer<typeof checkBody>

/** What is asked of the ledger, less who asks. */
export interface CheckedCall {
  /** null: only its size is known, so its tokens can't be counted. */
  request: ChatRequest | null
  model: string
  parameters: string[]
  promptSize: Pick<ChatRequest['promptSize'], 'bytes' | 'messages' | 'tools' | 'images'> & {
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
    const promptSize = { bytes: promptBytes, messages: 1, tools: 0, images: 0, counted: null, maxTokens: max ?? null }
    return { request: null, model, parameters: [], promptSize }
  }
  const request = readChatRequest({ model, messages: given, ...(max !== undefined && { max_tokens: max }) })
  const promptSize = { ...request.promptSize, counted: null, maxTokens: request.maxTokens }
  return { request, model, parameters: request.conditional, promptSize }
}

/** What an admission decides, in its order, and the refusals by which each of them fails (rules §2.3). */
const refusalsOf = {
  key: ['key_invalid', 'key_revoked', 'key_expired'],
  binding: ['key_unbound'],
  issuer: ['key_issuer_denied'],
  project: ['project_mismatch'],
  model: ['model_not_found'],
  allowlist: ['key_scope'],
  request: ['unsupported_parameter', 'images_unsupported'],
  context: ['context_limit'],
  limit: ['key_limit'],
  wallet: ['insufficient_budget'],
} as const satisfies Record<string, readonly LedgerRefusalCode[]>
type Rule = keyof typeof refusalsOf
const rules = Object.keys(refusalsOf) as [Rule, ...Rule[]]

export const admissionCheck = z
  .strictObject({
    admitted: z.boolean().describe('whether a call like this would be admitted now'),
    model: z.string(),
    boundMicro: z
      .int()
      .min(0)
      .nullable()
      .describe(
        'micro-USD that the call would reserve: the most that it can cost; null where a rule before money fails',
      ),
    outputCap: z.int().min(0).nullable().describe('tokens that the provider would be asked for at most; null as above'),
    counted: z
      .boolean()
      .describe('whether the tokens of the prompt were counted, because its bytes alone would have been refused'),
    rules: z.array(z.strictObject({ rule: z.enum(rules), outcome: z.enum(['pass', 'fail', 'not_reached']) })),
    refusal: refusalBody.nullable().describe('what the call would be refused with, by the first rule that fails'),
  })
  .meta({
    examples: [
      {
        admitted: true,
        model: exampleIds.product,
        boundMicro: 424,
        outputCap: 300,
        counted: false,
        rules: rules.map((rule) => ({ rule, outcome: 'pass' })),
        refusal: null,
      },
    ],
  })
export type AdmissionCheck = z.infer<typeof admissionCheck>

/**
 * What whoever asks is told.
 * @throws Refusal that no rule has: `unavailable`, where nobody could make a call now
 */
export function composeCheck(
  { model, promptSize: { counted } }: CheckedCall,
  { refusal, boundMicro, outputCap }: CheckedAdmission,
): AdmissionCheck {
  const failed = refusal === null ? rules.length : rules.findIndex((rule) => fails(rule, refusal))
  if (refusal !== null && failed < 0) throw refusalFor(refusal, 'chat')
  const reachesMoney = failed >= rules.indexOf('limit')
  return {
    admitted: refusal === null,
    model,
    boundMicro: reachesMoney ? boundMicro : null,
    outputCap: reachesMoney ? outputCap : null,
    counted: counted !== null,
    rules: rules.map((rule, n) => ({ rule, outcome: n < failed ? 'pass' : n === failed ? 'fail' : 'not_reached' })),
    refusal: refusal && refusalFor(refusal, 'chat').body,
  }
}

/** Whether the key as such is refused: then it may ask nothing, this neither. */
export function refusesKey(refusal: LedgerRefusal): boolean {
  return (['key', 'binding', 'issuer', 'project'] as const).some((rule) => fails(rule, refusal))
}

function fails(rule: Rule, { code }: LedgerRefusal): boolean {
  return (refusalsOf[rule] as readonly LedgerRefusalCode[]).includes(code)
}
