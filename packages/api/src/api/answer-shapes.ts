import { z } from 'zod'
import { exampleIds } from '../example-ids.ts'
import { reasoningDetail } from '../chat-request.ts'
import type { RefusalBody, RefusalCode } from '../refusal.ts'

// Shapes of responses that have no other contract, because the program that writes them builds them field by field. A
// test of the gateway checks real responses against them.

const types = [
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'conflict_error',
  'insufficient_funds_error',
  'rate_limit_error',
  'api_error',
] as const satisfies RefusalBody['type'][]

/** The body of a refusal, and the error of an execution or a node. */
export const refusalBody = z.strictObject({
  code: (z.string() as z.ZodType<RefusalCode>).describe('stable; docs/refusals.md lists them'),
  type: z.enum(types),
  param: z.string().nullable().describe('path of the invalid field in the request'),
  message: z.string(),
  resolution: z.string().min(1).describe('how to fix it'),
  details: z.record(z.string(), z.unknown()).exactOptional().describe('machine-readable facts'),
})

/** Body of every response that is not 2xx. */
export const refusalAnswer = z.strictObject({ error: refusalBody })

const counts = z.record(z.string(), z.int().min(0))
export const usageShape = z.strictObject({
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  total_tokens: z.int().min(0),
  prompt_tokens_details: counts.optional(),
  completion_tokens_details: counts.optional(),
  cost: z
    .number()
    .min(0)
    .optional()
    .describe('USD, exact to the micro-USD: charge of this call. Absent: not recorded yet'),
  cost_micro: z.int().min(0).optional().describe('the same in micro-USD'),
})

const token = { token: z.string(), logprob: z.number(), bytes: z.array(z.int()).nullable() }
const tokens = z.array(z.strictObject({ ...token, top_logprobs: z.array(z.strictObject(token)) })).nullable()
const logprobs = z.strictObject({ content: tokens, refusal: tokens })
const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter'])
const reasoning = {
  reasoning_content: z.string().optional(),
  reasoning: z.string().optional(),
  reasoning_details: z
    .array(reasoningDetail)
    .optional()
    .describe('data that the model needs to continue its reasoning: send it back with the message, unchanged'),
}
const id = z.string().describe('the invocation ID, as in X-Service-Invocation')
const created = z.int().describe('Unix seconds')
const model = z.string().describe('as requested')
const service = z
  .strictObject({
    kind: z.literal('sandbox'),
    execution_id: z.string(),
    project: z.string(),
    charged_micro: z.int().describe('micro-USD, sum of its child calls'),
  })
  .optional()
  .describe('for a sandbox product: the execution')

const answered = { id: exampleIds.invocation, created: 1_795_424_400, model: exampleIds.product }
const usageExample = {
  prompt_tokens: 12,
  completion_tokens: 5,
  total_tokens: 17,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
  cost: 0.000005,
  cost_micro: 5,
}

export const completionShape = z
  .strictObject({
    id,
    object: z.literal('chat.completion'),
    created,
    model,
    choices: z
      .array(
        z.strictObject({
          index: z.literal(0),
          message: z.strictObject({
            role: z.literal('assistant'),
            content: z.string().nullable(),
            refusal: z.string().nullish(),
            tool_calls: z
              .array(
                z.strictObject({
                  id: z.string(),
                  type: z.literal('function'),
                  function: z.strictObject({ name: z.string(), arguments: z.string() }),
                }),
              )
              .optional(),
            ...reasoning,
          }),
          logprobs: logprobs.nullish(),
          finish_reason: finishReason,
        }),
      )
      .length(1),
    usage: usageShape,
    service,
  })
  .meta({
    examples: [
      {
        ...answered,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Otters hold hands.', refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage: usageExample,
      },
    ],
  })

const delta = z.strictObject({
  role: z.literal('assistant').optional(),
  content: z.string().nullish(),
  refusal: z.string().optional(),
  tool_calls: z
    .array(
      z.strictObject({
        index: z.int().min(0),
        id: z.string().optional(),
        type: z.literal('function').optional(),
        function: z.strictObject({ name: z.string().optional(), arguments: z.string().optional() }).optional(),
      }),
    )
    .optional(),
  ...reasoning,
})

/** The text after `data: ` of every event except the last, which is `[DONE]`. */
export const chunkShape = z
  .strictObject({
    id,
    object: z.literal('chat.completion.chunk'),
    created,
    model,
    choices: z
      .array(
        z.strictObject({
          index: z.literal(0),
          delta,
          logprobs: logprobs.optional(),
          finish_reason: finishReason.nullable(),
        }),
      )
      .max(1)
      .describe('empty in the additional chunk of stream_options.include_usage'),
    usage: usageShape
      .nullish()
      .describe('in the last chunk; null in the others with stream_options.include_usage, and absent without'),
    service,
  })
  .meta({
    examples: [
      { delta: { role: 'assistant', content: 'Otters hold hands.' }, finish_reason: null },
      { delta: {}, finish_reason: 'stop' },
    ].map((choice) => ({
      ...answered,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, ...choice }],
      ...(choice.finish_reason !== null && { usage: usageExample }),
    })),
  })

/** Raw bytes. */
export const bytesShape = z.unknown().meta({ type: 'string', format: 'binary' })
