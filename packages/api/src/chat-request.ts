import { z } from 'zod'
import { type Attachment, isFileUrl, isImageUrl, takeAttachmentsOut } from './attachments.ts'
import { exampleIds } from './example-ids.ts'
import { invalidField, invalidIssue, READABLE, unknownField } from './field-problem.ts'
import { chatLimits } from './limits.ts'
import { refuse } from './refusal.ts'
import { utf8Bytes } from './text-bytes.ts'

// Fields unknown inside a message or a tool are dropped: clients send back what other providers left there.

/** Marks the end of a prefix that the provider may cache, if its wire format can say so. */
const cacheControl = z.object({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).optional()
export type CacheControl = z.infer<typeof cacheControl>

const textPart = z.object({ type: z.literal('text'), text: z.string(), cache_control: cacheControl })
const refusalPart = z.object({ type: z.literal('refusal'), refusal: z.string() })
const imagePart = z.object({
  type: z.literal('image_url'),
  cache_control: cacheControl,
  image_url: z.object({
    url: z
      .string()
      .refine(
        isImageUrl,
        'must be a data: URL of a PNG, JPEG, WebP or GIF image in base64, asset: and the id of an asset of the project, or an https: address',
      )
      .describe(
        'a data: URL, asset: followed by the ID of an asset, or, if image_input.https of the model is true, an https: URL',
      ),
    detail: z.enum(['auto', 'low', 'high']).optional(),
  }),
})
const filePart = z.object({
  type: z.literal('file'),
  cache_control: cacheControl,
  file: z.object({
    file_data: z
      .string({ error: 'is required here: files are not stored by file_id' })
      .refine(isFileUrl, 'must be a data: URL of a PDF in base64, or asset: and the id of an asset of the project')
      .describe(
        'a data: URL of a PDF, or asset: followed by the ID of an asset, if the model lists file in its input_modalities',
      ),
    filename: z.string().min(1).max(256).default('document.pdf'),
  }),
})
export type FilePart = z.infer<typeof filePart>
const toolCall = z.object({
  id: z.string().min(1),
  type: z.literal('function').default('function'),
  function: z.object({ name: z.string().min(1), arguments: z.string() }),
})
/** Reasoning of a model, sealed for its provider: the caller returns it unchanged. */
export const reasoningDetail = z.discriminatedUnion('type', [
  z.object({ type: z.literal('reasoning.text'), text: z.string(), signature: z.string() }),
  z.object({ type: z.literal('reasoning.encrypted'), data: z.string(), id: z.string().optional() }),
])
const name = z.string().min(1).max(64).optional()

/** A message of a chat request: text, images and files, or an earlier response of a model (rules §3.1). */
export const message = z.discriminatedUnion('role', [
  z.object({
    role: z.enum(['system', 'developer']).transform(() => 'system' as const),
    content: z.union([z.string(), z.array(textPart).min(1)]),
    name,
    cache_control: cacheControl,
  }),
  z.object({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, imagePart, filePart])).min(1)]),
    name,
    cache_control: cacheControl,
  }),
  z.object({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, refusalPart])).min(1)]).nullish(),
    name,
    refusal: z.string().nullish(),
    tool_calls: z.array(toolCall).min(1).nullish(),
    reasoning_content: z.string().nullish(),
    reasoning: z.string().nullish(),
    reasoning_details: z.array(reasoningDetail).max(256).nullish(),
    cache_control: cacheControl,
  }),
  z.object({
    role: z.literal('tool'),
    content: z.union([z.string(), z.array(textPart).min(1)]),
    tool_call_id: z.string().min(1),
    name, // the tool's name, sent by LangChain
    cache_control: cacheControl,
  }),
])

/** A chat request that passed every check that needs no state (rules §3.1, §3.2). */
export interface ChatRequest {
  model: string
  stream: boolean
  /** `stream_options.include_usage`. */
  includeUsage: boolean
  /** `project_id` of the body; only a consistency check (rules §2.7). */
  projectId: string | null
  /** The cap that the caller asked for; null and 0 mean the model's default cap. */
  maxTokens: number | null
  /** The forwarded body without model, output cap and stream fields. */
  forwarded: Forwarded
  /** `forwarded` as compact JSON: this text is measured, and sent unchanged if it has no attachments. */
  forwardedJson: string
  /** Images and files, in order. `forwarded` holds only a reference to each, never its data. */
  attachments: Attachment[]
  /** Parameters that only models which list them in `supported_parameters` accept. */
  conditional: string[]
  /** Parameters that are left out of the forwarded request if the model does not list them. */
  optional: readonly string[]
  promptSize: PromptSize
}

export type Forwarded = { messages: z.infer<typeof message>[] } & Record<string, unknown>

/** Input of the upper bound of the price (money §2.1). */
export interface PromptSize {
  /** UTF-8 bytes of `forwardedJson`. */
  bytes: number
  messages: number
  tools: number
  images: number
  files: number
}

const jsonBytes = (value: unknown) => utf8Bytes(JSON.stringify(value))
const codePoints = (text: string) => Array.from(text).length

const tool = z.object({
  type: z.literal('function'),
  cache_control: cacheControl,
  function: z.object({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of letters, digits, _ and -'),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
})

const stopSequence = z
  .string()
  .refine(
    (text) => codePoints(text) >= chatLimits.stopCharacters.min && codePoints(text) <= chatLimits.stopCharacters.max,
    'must be 1 to 64 characters',
  )
const maxTokens = z.int().min(chatLimits.maxTokens.min).max(chatLimits.maxTokens.max)
const penalty = z.number().min(-2).max(2)
const under = (bytes: number) => (value: unknown) => jsonBytes(value) < bytes
const clamp = (value: number, most: number) => Math.max(-most, Math.min(value, most))
const isInt64 = (value: number) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63
/** Largest double whose digits, as JSON writes them, are a 64-bit integer. */
const LARGEST_SEED = 2 ** 63 - 1024
const ignored = z.unknown().optional()

/** The body of POST /v1/chat/completions before `null`s are removed. The API description is generated from it. */
export const chatBody = z
  .strictObject({
    model: z.string().min(1).max(256),
    messages: z.array(message).min(chatLimits.messages.min).max(chatLimits.messages.max),
    stream: z.boolean().optional(),
    stream_options: z
      .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
      .optional(),
    max_tokens: maxTokens.optional(),
    max_completion_tokens: maxTokens.optional(),
    temperature: z.number().min(chatLimits.temperature.min).max(chatLimits.temperature.max).optional(),
    top_p: z.number().gt(chatLimits.topP.above).max(chatLimits.topP.max).optional(),
    n: z.literal(1, 'must be 1: one completion is charged per request').optional(),
    seed: z
      .number()
      .refine(isInt64, 'must be an integer of 64 bits')
      .meta({ type: 'integer', description: 'beyond 2^53, the nearest double-precision number is forwarded' })
      .optional(),
    stop: z.union([stopSequence, z.array(stopSequence).max(chatLimits.stopSequences)]).optional(),
    tools: z
      .array(tool)
      .max(chatLimits.tools)
      .refine(under(chatLimits.toolsBytesUnder), 'must be under 32 KB in total')
      .optional(),
    tool_choice: z
      .union([z.string(), z.record(z.string(), z.unknown())])
      .refine(under(chatLimits.toolChoiceBytesUnder), 'must be under 2 KB')
      .optional(),
    response_format: z
      .looseObject({ type: z.enum(['text', 'json_object', 'json_schema']) })
      .refine(under(chatLimits.responseFormatBytesUnder), 'must be under 8 KB')
      .optional(),
    project_id: z.string().optional(),
    parallel_tool_calls: z.boolean().optional(),
    frequency_penalty: penalty.optional(),
    presence_penalty: penalty.optional(),
    logit_bias: z.record(z.string(), z.number().min(-100).max(100)).optional(),
    logprobs: z.boolean().optional(),
    top_logprobs: z.int().min(0).max(20).optional(),
    reasoning_effort: z.string().max(32).optional(),
    reasoning: z
      .object({ effort: z.string().max(32).optional() })
      .optional()
      .describe('means `reasoning_effort`'),
    usage: z.object({ include: z.boolean().optional() }).optional().describe('means `stream_options.include_usage`'),
    top_k: z.int().min(0).max(1_000_000).optional(),
    top_a: z.number().min(0).max(1).optional(),
    min_p: z.number().min(0).max(1).optional(),
    repetition_penalty: z.number().min(0).max(2).optional(),
    verbosity: z.enum(['low', 'medium', 'high']).optional(),
    // Accepted and ignored: stock clients send them, and they don't affect the response (rules §3.3).
    user: ignored,
    metadata: ignored,
    store: ignored,
    service_tier: ignored,
    safety_identifier: ignored,
    prompt_cache_key: ignored,
    prompt_cache_retention: ignored,
  })
  .meta({
    examples: [
      {
        model: exampleIds.product,
        messages: [{ role: 'user', content: 'Say something short.' }],
        max_tokens: 50,
      },
    ],
  })

/** Refused if the model does not list them. */
const CONDITIONAL = [
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'parallel_tool_calls',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'reasoning_effort',
  'verbosity',
] as const

/** Optional on every wire. */
export const IGNORED_IF_UNSUPPORTED = [
  'temperature',
  'top_p',
  'seed',
  'top_k',
  'top_a',
  'min_p',
  'repetition_penalty',
] as const

const FORWARDED = [...IGNORED_IF_UNSUPPORTED, ...CONDITIONAL] as const

const FIELDS = new Set(Object.keys(chatBody.shape))
/** The others are left out unread: a message may have thousands. */
const MESSAGE_FIELDS = new Set(message.options.flatMap(({ shape }) => Object.keys(shape)))

/**
 * Reads the body of POST /v1/chat/completions.
 * @param dataUrls `data:` URLs that the messages have placeholders for, by placeholder
 * @param alsoOptional conditional parameters that a wire makes optional
 * @throws Refusal `invalid_request` with the field as `param`
 */
export function readChatRequest(
  value: unknown,
  dataUrls?: ReadonlyMap<string, string>,
  alsoOptional: readonly string[] = [],
): ChatRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('invalid_request', {
      reason: 'The body is not a JSON object.',
      resolution: 'Send one JSON object with model and messages.',
    })
  // Before the schema, which would collect them all. An unknown field that is null is absent, like any other.
  for (const field of Object.keys(value)) {
    const given = (value as Record<string, unknown>)[field]
    if (given === null) continue
    if (!FIELDS.has(field)) throw unknownField(field)
    const entries = Array.isArray(given) ? given.length : typeof given === 'object' ? Object.keys(given).length : 0
    if (entries > chatLimits.entries)
      throw invalidField(field, `has ${entries} entries, more than ${chatLimits.entries}`, 'send fewer')
  }
  const parsed = chatBody.safeParse(withoutAbsent(value), READABLE)
  if (!parsed.success) throw invalidIssue(parsed.error.issues[0]!)
  const asked = parsed.data
  if (
    asked.max_tokens !== undefined &&
    asked.max_completion_tokens !== undefined &&
    asked.max_tokens !== asked.max_completion_tokens
  )
    throw invalidField('max_completion_tokens', 'differs from max_tokens, which means the same', 'send one of the two')
  const effort = asked.reasoning?.effort
  if (effort !== undefined && asked.reasoning_effort !== undefined && effort !== asked.reasoning_effort)
    throw invalidField('reasoning.effort', 'differs from reasoning_effort, which means the same', 'send one of the two')
  if (effort !== undefined) asked.reasoning_effort = effort
  if (asked.tools === undefined && (asked.tool_choice === 'auto' || asked.tool_choice === 'none'))
    delete asked.tool_choice
  if (asked.tool_choice !== undefined && asked.tools === undefined)
    throw invalidField('tool_choice', 'is given without tools', 'send tools, or leave tool_choice out')

  const parameters: Record<string, unknown> = {}
  for (const field of FORWARDED) if (asked[field] !== undefined) parameters[field] = asked[field]
  if (asked.seed !== undefined) parameters['seed'] = clamp(asked.seed, LARGEST_SEED)
  const { messages, attachments } = takeAttachmentsOut(asked.messages, dataUrls)
  const files = attachments.filter(({ part }) => part === 'file').length
  const images = attachments.length - files
  for (const [count, of] of [
    [images, 'images'],
    [files, 'files'],
  ] as const)
    if (count > chatLimits[of])
      throw invalidField(
        'messages',
        `have ${count} ${of}, more than ${chatLimits[of]}`,
        `send at most ${chatLimits[of]} ${of}`,
      )
  const forwarded: Forwarded = { messages, ...parameters }
  const forwardedJson = JSON.stringify(forwarded)
  const bytes = utf8Bytes(forwardedJson)
  const cap = asked.max_tokens ?? asked.max_completion_tokens
  // The output cap is forwarded too, under the provider's name for it.
  const withCap = bytes + (cap === undefined ? 0 : `,"max_tokens":${cap}`.length)
  if (withCap > chatLimits.forwardedBytes)
    throw invalidField(
      'messages',
      `together with the forwarded parameters is ${withCap} bytes, more than ${chatLimits.forwardedBytes}`,
      'shorten the messages or the parameters',
    )
  return {
    model: asked.model,
    stream: asked.stream ?? false,
    includeUsage: asked.stream_options?.include_usage ?? asked.usage?.include ?? false,
    projectId: asked.project_id ?? null,
    maxTokens: cap ?? null,
    forwarded,
    forwardedJson,
    attachments,
    conditional: CONDITIONAL.filter(
      (field) =>
        forwarded[field] !== undefined && !saysNothing(field, forwarded[field]) && !alsoOptional.includes(field),
    ),
    optional: [...IGNORED_IF_UNSUPPORTED, ...alsoOptional],
    promptSize: {
      bytes,
      messages: asked.messages.length,
      tools: asked.tools?.length ?? 0,
      images,
      files,
    },
  }
}

/** Without a choice, a model with tools chooses by itself: `auto` is the default. */
function saysNothing(field: string, value: unknown): boolean {
  return field === 'tool_choice' && value === 'auto'
}

/**
 * Removes what says nothing: `null`, an empty tool list, a zero penalty and the response format `text` (rules §3.3).
 */
function withoutAbsent(value: object): Record<string, unknown> {
  const kept = withoutNulls(value)
  if (Array.isArray(kept['tools']) && kept['tools'].length === 0) delete kept['tools']
  for (const penalty of ['frequency_penalty', 'presence_penalty']) if (kept[penalty] === 0) delete kept[penalty]
  if (isPlainText(kept['response_format'])) delete kept['response_format']
  // Providers tell a null `content`, as in a message with tool calls, from an absent one.
  if (Array.isArray(kept['messages'])) kept['messages'] = kept['messages'].map(withoutAbsentOfMessage)
  return kept
}

/** The default format of every response. */
function isPlainText(format: unknown): boolean {
  return isObject(format) && format['type'] === 'text' && Object.keys(format).length === 1
}

function withoutAbsentOfMessage(given: unknown): unknown {
  if (!isObject(given)) return given
  const kept: Record<string, unknown> = {}
  for (const field of MESSAGE_FIELDS)
    if (Object.hasOwn(given, field) && (given[field] !== null || field === 'content')) kept[field] = given[field]
  const details = kept['reasoning_details']
  if (Array.isArray(details))
    kept['reasoning_details'] = details.filter((detail) => reasoningDetail.safeParse(detail).success)
  if (Array.isArray(kept['content'])) kept['content'] = kept['content'].map(imageOfFile)
  for (const list of ['tool_calls', 'reasoning_details'])
    if (Array.isArray(kept[list]) && kept[list].length === 0) delete kept[list]
  return kept
}

/** LlamaIndex sends an image as a file. */
function imageOfFile(part: unknown): unknown {
  if (!isObject(part) || part['type'] !== 'file' || !isObject(part['file'])) return part
  const url = part['file']['file_data']
  if (typeof url !== 'string' || !url.startsWith('data:image/')) return part
  const { file: _, ...kept } = part
  return { ...kept, type: 'image_url', image_url: { url } }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The schema checks anything that is not a plain object. Without a prototype, a field named `__proto__` is an ordinary
 * field.
 */
function withoutNulls<T>(value: T): T & Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value as never
  const kept = Object.create(null) as Record<string, unknown>
  for (const [field, given] of Object.entries(value)) if (given !== null) kept[field] = given
  return kept as never
}
