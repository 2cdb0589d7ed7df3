import { z } from 'zod'
import { refusalBody } from '../../api/answer-shapes.ts'
import { exampleIds } from '../../example-ids.ts'

// Shapes of the answers and events of the Messages wire, for the description of the API. A test checks real ones
// against them.

const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('thinking'),
    thinking: z.string(),
    signature: z.string().describe('what the model needs to continue its reasoning: send the block back unchanged'),
  }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.strictObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.looseObject({}) }),
])
const usage = z.strictObject({
  input_tokens: z.int().min(0).describe('without those read from a cache or written to one'),
  cache_read_input_tokens: z.int().min(0).optional(),
  cache_creation_input_tokens: z.int().min(0).optional(),
  output_tokens: z.int().min(0),
  cost: z.number().min(0).optional().describe('USD, exact to the micro-USD: charge of this call'),
  cost_micro: z.int().min(0).optional().describe('the same in micro-USD'),
})
const stopReason = z.enum(['end_turn', 'max_tokens', 'tool_use', 'refusal'])
const service = z.looseObject({}).optional().describe('for a sandbox product: the execution')

const head = {
  id: z.string().describe('the invocation ID, as in X-Service-Invocation'),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string().describe('as requested'),
  content: z.array(block),
  stop_sequence: z.null(),
  usage,
}

const said = 'Otters hold hands.'
const usageExample = {
  input_tokens: 12,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  output_tokens: 5,
  cost: 0.000005,
  cost_micro: 5,
}
const messageExample = {
  id: exampleIds.invocation,
  type: 'message',
  role: 'assistant',
  model: exampleIds.product,
  content: [{ type: 'text', text: said }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: usageExample,
}

export const messageShape = z
  .strictObject({ ...head, stop_reason: stopReason, service })
  .meta({ examples: [messageExample] })

/** Anthropic's types of errors. */
const messageErrorTypes = [
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'timeout_error',
  'api_error',
  'overloaded_error',
] as const
export type MessageErrorType = (typeof messageErrorTypes)[number]

/** A refusal as this wire writes it: its `type` is that of Anthropic. */
export const messageErrorShape = z.strictObject({
  type: z.literal('error'),
  error: refusalBody.extend({ type: z.enum(messageErrorTypes) }),
})

const index = z.int().min(0)

/** The text after `data: ` of an event. */
export const messageEventShape = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('message_start'), message: z.strictObject({ ...head, stop_reason: z.null() }) }),
    z.strictObject({ type: z.literal('content_block_start'), index, content_block: block }),
    z.strictObject({
      type: z.literal('content_block_delta'),
      index,
      delta: z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('text_delta'), text: z.string() }),
        z.strictObject({ type: z.literal('thinking_delta'), thinking: z.string() }),
        z.strictObject({ type: z.literal('signature_delta'), signature: z.string() }),
        z.strictObject({ type: z.literal('input_json_delta'), partial_json: z.string() }),
      ]),
    }),
    z.strictObject({ type: z.literal('content_block_stop'), index }),
    z.strictObject({
      type: z.literal('message_delta'),
      delta: z.strictObject({ stop_reason: stopReason, stop_sequence: z.null() }),
      usage,
      service,
    }),
    z.strictObject({ type: z.literal('message_stop') }),
    z.strictObject({ type: z.literal('ping') }),
    messageErrorShape,
  ])
  .meta({
    examples: [
      {
        type: 'message_start',
        message: { ...messageExample, content: [], stop_reason: null, usage: { input_tokens: 0, output_tokens: 0 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: usageExample },
      { type: 'message_stop' },
    ],
  })

export const tokenCountShape = z
  .strictObject({ input_tokens: z.int().min(0) })
  .meta({ examples: [{ input_tokens: 12 }] })
