import { z } from 'zod'
import { refusalBody } from '../../api/answer-shapes.ts'
import { exampleIds } from '../../example-ids.ts'

// Shapes of the responses and events of the Responses wire, for the description of the API. A test checks real ones
// against them.

const logprobs = z.array(z.looseObject({ token: z.string(), logprob: z.number() }))
const outputText = z.strictObject({
  type: z.literal('output_text'),
  annotations: z.tuple([]),
  logprobs,
  text: z.string(),
})
const refusalPart = z.strictObject({ type: z.literal('refusal'), refusal: z.string() })
const contentPart = z.discriminatedUnion('type', [outputText, refusalPart])
const summaryPart = z.strictObject({ type: z.literal('summary_text'), text: z.string() })
const status = z.enum(['in_progress', 'completed', 'incomplete'])
const call = { id: z.string(), call_id: z.string(), name: z.string(), namespace: z.string().optional() }

const outputItem = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(summaryPart),
    encrypted_content: z
      .string()
      .nullable()
      .optional()
      .describe('what the model needs to continue its reasoning: send the item back unchanged'),
    status,
  }),
  z.strictObject({
    type: z.literal('message'),
    id: z.string(),
    role: z.literal('assistant'),
    status,
    content: z.array(contentPart),
  }),
  z.strictObject({ type: z.literal('function_call'), ...call, arguments: z.string(), status }),
  z.strictObject({ type: z.literal('custom_tool_call'), ...call, input: z.string() }),
])

const partExample = { type: 'output_text', annotations: [], logprobs: [], text: 'Otters hold hands.' }
const itemExample = {
  type: 'message',
  id: `msg_${exampleIds.invocation.replace('inv_', '')}_0`,
  role: 'assistant',
  status: 'completed',
  content: [partExample],
}
const responseExample = {
  id: exampleIds.invocation,
  object: 'response',
  created_at: 1_795_424_400,
  status: 'completed',
  completed_at: 1_795_424_400,
  error: null,
  incomplete_details: null,
  output: [itemExample],
  usage: {
    input_tokens: 12,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 17,
    cost: 0.000005,
    cost_micro: 5,
  },
  model: exampleIds.product,
  instructions: null,
  max_output_tokens: 50,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
  user: null,
}

export const responseShape = z
  .strictObject({
    id: z.string().describe('the invocation ID, as in X-Service-Invocation'),
    object: z.literal('response'),
    created_at: z.int().describe('Unix seconds'),
    status: z.enum(['completed', 'incomplete', 'in_progress', 'failed']),
    completed_at: z.int().nullable(),
    error: refusalBody.nullable(),
    incomplete_details: z.strictObject({ reason: z.enum(['max_output_tokens', 'content_filter']) }).nullable(),
    output: z.array(outputItem),
    usage: z
      .strictObject({
        input_tokens: z.int().min(0),
        input_tokens_details: z.strictObject({ cached_tokens: z.int().min(0), cache_write_tokens: z.int().min(0) }),
        output_tokens: z.int().min(0),
        output_tokens_details: z.strictObject({ reasoning_tokens: z.int().min(0) }),
        total_tokens: z.int().min(0),
        cost: z.number().min(0).optional().describe('USD, exact to the micro-USD: charge of this call'),
        cost_micro: z.int().min(0).optional().describe('the same in micro-USD'),
      })
      .nullable(),
    service: z.looseObject({}).optional().describe('for a sandbox product: the execution'),
    model: z.string().describe('as requested'),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.null(),
    reasoning: z.strictObject({ effort: z.string().nullable(), summary: z.null() }),
    store: z.literal(false),
    temperature: z.number().nullable(),
    text: z.looseObject({}),
    tool_choice: z.unknown(),
    tools: z.array(z.looseObject({})),
    top_p: z.number().nullable(),
    truncation: z.literal('disabled'),
    user: z.null(),
  })
  .meta({
    examples: [responseExample],
  })

const ofItem = { item_id: z.string(), output_index: z.int().min(0) }
const ofPart = { ...ofItem, content_index: z.literal(0) }
const ofSummary = { ...ofItem, summary_index: z.literal(0) }

/** Fields of each event in addition to `type` and `sequence_number`. */
const events = {
  'response.created': { response: responseShape },
  'response.in_progress': { response: responseShape },
  'response.output_item.added': { output_index: z.int(), item: outputItem },
  'response.output_item.done': { output_index: z.int(), item: outputItem },
  'response.content_part.added': { ...ofPart, part: contentPart },
  'response.content_part.done': { ...ofPart, part: contentPart },
  'response.output_text.delta': { ...ofPart, delta: z.string(), logprobs },
  'response.output_text.done': { ...ofPart, text: z.string(), logprobs },
  'response.refusal.delta': { ...ofPart, delta: z.string() },
  'response.refusal.done': { ...ofPart, refusal: z.string() },
  'response.reasoning_summary_part.added': { ...ofSummary, part: summaryPart },
  'response.reasoning_summary_part.done': { ...ofSummary, part: summaryPart },
  'response.reasoning_summary_text.delta': { ...ofSummary, delta: z.string() },
  'response.reasoning_summary_text.done': { ...ofSummary, text: z.string() },
  'response.function_call_arguments.delta': { ...ofItem, delta: z.string() },
  'response.function_call_arguments.done': { ...ofItem, name: z.string(), arguments: z.string() },
  'response.custom_tool_call_input.delta': { ...ofItem, delta: z.string() },
  'response.custom_tool_call_input.done': { ...ofItem, input: z.string() },
  'response.completed': { response: responseShape },
  'response.incomplete': { response: responseShape },
  'response.failed': { response: responseShape },
  error: { error: refusalBody },
}

function eventShape([type, fields]: [string, z.ZodRawShape]) {
  return z.strictObject({ type: z.literal(type), sequence_number: z.int().min(0), ...fields })
}

const [firstEvent, ...otherEvents] = Object.entries(events).map(eventShape)

const placeExample = { item_id: itemExample.id, output_index: 0, content_index: 0 }

/** The text after `data: ` of an event. */
export const responseEventShape = z.discriminatedUnion('type', [firstEvent!, ...otherEvents]).meta({
  examples: [
    { type: 'response.created', response: { ...responseExample, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...itemExample, content: [] } },
    { type: 'response.content_part.added', ...placeExample, part: { ...partExample, text: '' } },
    { type: 'response.output_text.delta', ...placeExample, delta: 'Otters hold hands.', logprobs: [] },
    { type: 'response.output_text.done', ...placeExample, text: 'Otters hold hands.', logprobs: [] },
    { type: 'response.content_part.done', ...placeExample, part: partExample },
    { type: 'response.output_item.done', output_index: 0, item: itemExample },
    { type: 'response.completed', response: responseExample },
  ].map((event, n) => ({ ...event, sequence_number: n })),
})
