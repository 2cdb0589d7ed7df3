import { z } from 'zod'
import { chatBody } from '../../chat-request.ts'
import { exampleIds } from '../../example-ids.ts'

// The body of POST /v1/responses. Fields unknown inside an item, a part or a tool are dropped, like those inside a
// message of a chat request: clients send back what other providers left there.

const inputText = z.object({ type: z.enum(['input_text', 'output_text', 'text']), text: z.string() })
const inputImage = z.object({
  type: z.literal('input_image'),
  image_url: z
    .string({ error: 'is required here: images are not stored by file_id' })
    .describe('a `data:` URL, `asset:` followed by the ID of an asset, or an `https:` URL if the model takes them'),
  detail: z.enum(['auto', 'low', 'high', 'original']).optional(),
})
const inputFile = z.object({
  type: z.literal('input_file'),
  filename: z.string().optional(),
  file_data: z
    .string({ error: 'is required here: files are not stored by file_id, and not fetched by file_url' })
    .describe('a `data:` URL of a PDF, or `asset:` followed by the ID of an asset, if the model takes files'),
})
const refusal = z.object({ type: z.literal('refusal'), refusal: z.string() })
const part = z.discriminatedUnion('type', [inputText, inputImage, inputFile, refusal])
const content = z.union([z.string(), z.array(part)])
/** Output of a tool: text, or parts of it. */
const output = z.union([z.string(), z.array(z.discriminatedUnion('type', [inputText, inputImage, inputFile]))])

const messageItem = z.object({
  type: z.literal('message'),
  role: z.enum(['user', 'system', 'developer', 'assistant']),
  content,
})
const reasoningItem = z.object({
  type: z.literal('reasoning'),
  summary: z.array(z.object({ text: z.string() })).optional(),
  encrypted_content: z.string().nullish(),
})
const callId = z.string().min(1)
const named = { call_id: callId, name: z.string().min(1), namespace: z.string().nullish() }

/** An item of `input`. A message may leave out its type. */
const item = z.discriminatedUnion('type', [
  messageItem,
  reasoningItem,
  z.object({ type: z.literal('function_call'), ...named, arguments: z.string() }),
  z.object({ type: z.literal('function_call_output'), call_id: callId, output }),
  z.object({ type: z.literal('custom_tool_call'), ...named, input: z.string() }),
  z.object({ type: z.literal('custom_tool_call_output'), call_id: callId, output }),
])

const functionTool = z.object({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
})
const customTool = z.object({
  type: z.literal('custom'),
  name: z.string(),
  description: z.string().nullish(),
  format: z
    .object({ type: z.enum(['text', 'grammar']), syntax: z.string().optional(), definition: z.string().optional() })
    .nullish(),
})
const ownTool = z.discriminatedUnion('type', [functionTool, customTool])
const namespaceTool = z.object({
  type: z.literal('namespace'),
  name: z.string(),
  description: z.string().nullish(),
  tools: z.array(ownTool),
})
const named1 = { name: z.string() }
const toolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('function'), ...named1 }),
    z.object({ type: z.literal('custom'), ...named1 }),
    z.object({
      type: z.literal('allowed_tools'),
      mode: z.enum(['auto', 'required']),
      tools: z.array(z.object({ name: z.string() })),
    }),
  ]),
])
const format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string(),
    schema: z.record(z.string(), z.unknown()),
    description: z.string().nullish(),
    strict: z.boolean().nullish(),
  }),
])

const { shape } = chatBody
const ignored = z.unknown().optional()

/** The body before `null`s are removed. The API description is generated from it. */
export const responsesBody = z
  .strictObject({
    model: shape.model,
    input: z.union([z.string(), z.array(item)]),
    instructions: z.string().optional(),
    stream: shape.stream,
    stream_options: z.object({ include_obfuscation: z.boolean().optional() }).optional(),
    max_output_tokens: shape.max_tokens,
    temperature: shape.temperature,
    top_p: shape.top_p,
    top_logprobs: shape.top_logprobs,
    tools: z.array(z.discriminatedUnion('type', [functionTool, customTool, namespaceTool])).optional(),
    tool_choice: toolChoice.optional(),
    parallel_tool_calls: z.boolean().optional(),
    reasoning: z.object({ effort: z.string().max(32).nullish() }).optional(),
    text: z.object({ format: format.nullish(), verbosity: shape.verbosity.nullish() }).optional(),
    include: z.array(z.string().max(128)).max(32).optional(),
    truncation: z.literal('disabled', 'must be "disabled": nothing of a conversation is dropped here').optional(),
    project_id: shape.project_id,
    // Accepted without effect: `store` too, because nothing is stored (docs/responses.md).
    store: z.boolean().optional(),
    background: z.literal(false, 'must be false: a response is returned by the request that asks for it').optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    max_tool_calls: ignored,
    user: ignored,
    service_tier: ignored,
    safety_identifier: ignored,
    prompt_cache_key: ignored,
    prompt_cache_retention: ignored,
    prompt_cache_options: ignored,
    client_metadata: ignored,
  })
  .meta({
    examples: [{ model: exampleIds.product, input: 'Say something short.', max_output_tokens: 50 }],
  })

export type ResponsesBody = z.infer<typeof responsesBody>
export type InputItem = z.infer<typeof item>
export type ReasoningItem = z.infer<typeof reasoningItem>
export type InputPart = z.infer<typeof part>
/** A tool that the client runs. */
type FunctionTool = z.infer<typeof ownTool>

/** A tool as a chat request has it. */
export interface FlatTool {
  /** Its name there: tools in a namespace have the namespace in front. */
  flatName: string
  namespace?: string
  /** Where the body has it. */
  field: string
  tool: FunctionTool
}

export function flatTools({ tools = [] }: Pick<ResponsesBody, 'tools'>): FlatTool[] {
  return tools.flatMap((tool, n): FlatTool[] =>
    tool.type === 'namespace'
      ? tool.tools.map((inner, at) => ({
          flatName: flatNameOf(inner.name, tool.name),
          namespace: tool.name,
          field: `tools.${n}.tools.${at}`,
          tool: inner,
        }))
      : [{ flatName: tool.name, field: `tools.${n}`, tool }],
  )
}

export function flatNameOf(name: string, namespace: string | null | undefined): string {
  return namespace ? `${namespace}__${name}` : name
}
