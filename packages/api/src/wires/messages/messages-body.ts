import { z } from 'zod'
import { chatBody } from '../../chat-request.ts'
import { exampleIds } from '../../example-ids.ts'
import { chatLimits } from '../../limits.ts'

// The body of POST /v1/messages. Fields unknown inside a message, a block or a tool are dropped, like those inside a
// message of a chat request.

const cacheControl = z.object({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).nullish()
const text = z.object({ type: z.literal('text'), text: z.string(), cache_control: cacheControl })
const image = z.object({
  type: z.literal('image'),
  cache_control: cacheControl,
  source: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('base64'),
      media_type: z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
      data: z.string(),
    }),
    z.object({
      type: z.literal('url'),
      url: z
        .string()
        .describe('an `https:` URL if the model takes them, or `asset:` followed by the ID of an asset of the project'),
    }),
  ]),
})
const document = z.object({
  type: z.literal('document'),
  title: z.string().nullish(),
  cache_control: cacheControl,
  source: z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), data: z.string() }),
    z.object({
      type: z.literal('base64'),
      media_type: z.literal('application/pdf', 'must be "application/pdf": a text goes into a source of type text'),
      data: z.string(),
    }),
    z.object({
      type: z.literal('url'),
      url: z.string().describe('`asset:` followed by the ID of a PDF of the project'),
    }),
  ]),
})
const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
  cache_control: cacheControl,
})
const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, image, document]))]).nullish(),
  is_error: z.boolean().nullish(),
  cache_control: cacheControl,
})
const thinking = z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().nullish() })
const redacted = z.object({ type: z.literal('redacted_thinking'), data: z.string() })

const userBlock = z.discriminatedUnion('type', [text, image, document, toolResult])
const assistantBlock = z.discriminatedUnion('type', [text, thinking, redacted, toolUse])

const message = z.discriminatedUnion('role', [
  z.object({ role: z.literal('user'), content: z.union([z.string(), z.array(userBlock).min(1)]) }),
  z.object({ role: z.literal('assistant'), content: z.union([z.string(), z.array(assistantBlock)]) }),
  z.object({ role: z.literal('system'), content: z.union([z.string(), z.array(text).min(1)]) }),
])

const tool = z.object({
  type: z.literal('custom').nullish(),
  name: z.string(),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()),
  strict: z.boolean().nullish(),
  cache_control: cacheControl,
})
const alone = z.boolean().optional()
const toolChoice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('auto'), disable_parallel_tool_use: alone }),
  z.object({ type: z.literal('any'), disable_parallel_tool_use: alone }),
  z.object({ type: z.literal('tool'), name: z.string(), disable_parallel_tool_use: alone }),
  z.object({ type: z.literal('none') }),
])
const thinkingConfig = z.discriminatedUnion('type', [
  z.object({ type: z.literal('enabled'), budget_tokens: z.int().min(1_024) }),
  z.object({ type: z.enum(['adaptive', 'between_tools']) }),
  z.object({ type: z.literal('disabled') }),
])

const { shape } = chatBody
const ignored = z.unknown().optional()

/** What both routes of this wire take. */
const counted = {
  model: shape.model,
  messages: z.array(message).min(1),
  system: z.union([z.string(), z.array(text)]).optional(),
  tools: z.array(tool).optional(),
  tool_choice: toolChoice.optional(),
  thinking: thinkingConfig.optional().describe('used by models that list `reasoning_effort`, and ignored otherwise'),
  output_config: z
    .object({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.object({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) }).nullish(),
    })
    .optional(),
  cache_control: cacheControl.describe('marks the last message'),
  project_id: shape.project_id,
  // Accepted without effect (docs/messages.md).
  metadata: ignored,
  service_tier: ignored,
  context_management: ignored,
  inference_geo: ignored,
  diagnostics: ignored,
  user_profile_id: ignored,
  workspace_id: ignored,
  speed: z.literal('standard').optional(),
}

/** The body before `null`s are removed. The API description is generated from it. */
export const messagesBody = z
  .strictObject({
    ...counted,
    max_tokens: z
      .int()
      .min(1)
      .describe(`above ${chatLimits.maxTokens.max}, which clients send by default, the model's default applies`),
    stream: shape.stream,
    stop_sequences: z.array(z.string()).optional(),
    temperature: z.number().min(0).max(1).optional(),
    top_p: shape.top_p,
    top_k: shape.top_k,
  })
  .meta({
    examples: [
      { model: exampleIds.product, max_tokens: 50, messages: [{ role: 'user', content: 'Say something short.' }] },
    ],
  })

/** The body of POST /v1/messages/count_tokens. */
export const countTokensBody = z.strictObject(counted).meta({
  examples: [{ model: exampleIds.product, messages: [{ role: 'user', content: 'Say something short.' }] }],
})

export type MessagesBody = Omit<z.infer<typeof messagesBody>, 'max_tokens'> & { max_tokens?: number }
export type Block = z.infer<typeof userBlock> | z.infer<typeof assistantBlock>
export type ResultPart = z.infer<typeof text> | z.infer<typeof image> | z.infer<typeof document>
export type Tool = z.infer<typeof tool>
