import { z } from 'zod'
import { type ChatRequest, tokensPerFile, tokensPerImage } from '../read-chat-request.ts'
import { signatureOf } from './messages-dialect.ts'

// As strict as the real APIs: an adapter that sends an unknown field is refused here too.

const said = z.string().regex(/\S/, 'text must hold more than blanks')
/** Ends a prefix to cache. */
const cacheControl = z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
const cached = { cache_control: cacheControl.optional() }
const textBlock = z.strictObject({ type: z.literal('text'), text: said, ...cached })
const imageBlock = z.strictObject({
  type: z.literal('image'),
  ...cached,
  source: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('base64'),
      media_type: z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
      data: z.base64(),
    }),
    z.strictObject({ type: z.literal('url'), url: z.url({ protocol: /^https$/ }) }),
  ]),
})
const documentBlock = z.strictObject({
  type: z.literal('document'),
  ...cached,
  title: z.string().min(1).max(500).optional(),
  source: z.strictObject({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: z.base64() }),
})
const id = z.string().regex(/^[\w-]+$/)
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  ...cached,
  id,
  name: z.string().regex(/^[\w-]{1,128}$/),
  input: z.record(z.string(), z.unknown()),
})
const thinking = z
  .strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() })
  .refine(({ thinking: text, signature }) => signature === signatureOf(text), 'invalid signature in thinking block')
const redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) })
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  ...cached,
  tool_use_id: id,
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textBlock, imageBlock]))]).optional(),
  is_error: z.boolean().optional(),
})
const blocks = <B extends z.ZodDiscriminatedUnion>(block: B) => z.union([said, z.array(block).min(1)])

const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: blocks(z.discriminatedUnion('type', [textBlock, imageBlock, documentBlock, toolResult])),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: blocks(z.discriminatedUnion('type', [textBlock, toolUse, thinking, redacted])),
  }),
])

const parallel = { disable_parallel_tool_use: z.boolean().optional() }
const toolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), ...parallel }),
  z.strictObject({ type: z.literal('any'), ...parallel }),
  z.strictObject({ type: z.literal('tool'), name: z.string(), ...parallel }),
  z.strictObject({ type: z.literal('none') }),
])

const request = z
  .strictObject({
    model: z.string().min(1),
    max_tokens: z.int().min(1),
    messages: z.array(message).min(1),
    system: z.union([z.string(), z.array(textBlock)]).optional(),
    stream: z.boolean().optional(),
    temperature: z.number().min(0).max(1).optional(),
    top_p: z.number().gt(0).max(1).optional(),
    stop_sequences: z.array(said).optional(),
    tools: z
      .array(
        z.strictObject({
          name: z.string(),
          description: z.string().optional(),
          input_schema: z.looseObject({ type: z.literal('object') }),
          strict: z.boolean().optional(),
          ...cached,
        }),
      )
      .optional(),
    tool_choice: toolChoice.optional(),
    thinking: z
      .strictObject({ type: z.enum(['adaptive', 'disabled']), display: z.enum(['summarized', 'omitted']).optional() })
      .optional(),
    output_config: z
      .strictObject({
        effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
        format: z
          .strictObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) })
          .optional(),
      })
      .optional(),
  })
  .superRefine(({ messages, thinking: thinks, temperature }, context) => {
    const problem = (text: string): void => context.addIssue({ code: 'custom', message: text })
    if (thinks?.type === 'adaptive' && temperature !== undefined && temperature !== 1)
      problem('temperature may only be 1 when thinking is enabled')
    if (thinks?.type === 'adaptive' && usesOf(messages.at(-2)).length > 0 && !startsWithThinking(messages.at(-2)))
      problem('a final assistant message must start with a thinking block')
    messages.forEach(({ role, content }, n) => {
      if (role === messages[n - 1]?.role) problem(`messages.${n}: roles must take turns`)
      const answered = usesOf(messages[n - 1])
      const results = typeof content === 'string' ? [] : content.filter((block) => block.type === 'tool_result')
      for (const { tool_use_id: use } of results)
        if (!answered.includes(use)) problem(`messages.${n}: unexpected tool_use_id ${use}`)
      const missing = answered.find((use) => !results.some((result) => result.tool_use_id === use))
      if (missing !== undefined) problem(`messages.${n}: the tool_use ${missing} is without its tool_result`)
    })
    if (usesOf(messages.at(-1)).length > 0) problem('the last tool_use is without its tool_result')
  })

type Message = z.infer<typeof message>

function usesOf(last: Message | undefined): string[] {
  if (last?.role !== 'assistant' || typeof last.content === 'string') return []
  return last.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
}

function startsWithThinking(last: Message | undefined): boolean {
  return typeof last?.content === 'object' && ['thinking', 'redacted_thinking'].includes(last.content[0]!.type)
}

/** Reads a Messages request as a chat request. Throws an error that states what is wrong with it. */
export function readMessagesRequest(body: unknown): ChatRequest {
  const read = request.safeParse(body)
  if (!read.success) throw new Error(z.prettifyError(read.error))
  const { model, messages, system, tools, tool_choice: choice, output_config: output, ...asked } = read.data
  const texts = textsOf(system ?? [])
  let lastUserText = ''
  let mediaTokens = 0
  let answersTool = false
  for (const { role, content } of messages) {
    const found = textsOf(content)
    texts.push(...found)
    if (role === 'user') lastUserText = found.at(-1) ?? lastUserText
    if (typeof content === 'string') continue
    for (const { type } of content)
      mediaTokens += type === 'image' ? tokensPerImage : type === 'document' ? tokensPerFile : 0
    answersTool ||= content.some((block) => block.type === 'tool_result')
  }
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  const named = choice?.type === 'tool' ? choice.name : undefined
  const tool = (tools ?? []).find(({ name }) => named === undefined || name === named)
  return {
    model,
    prompt: texts.join('\n'),
    lastUserText,
    promptTokens: Math.ceil(characters / 4) + 4 * messages.length + mediaTokens,
    stream: asked.stream ?? false,
    includeUsage: true,
    outputCap: asked.max_tokens,
    seed: 'null',
    stop: asked.stop_sequences ?? [],
    tool: tool && choice?.type !== 'none' && !answersTool ? { name: tool.name, parameters: tool.input_schema } : null,
    json: output?.format?.schema ?? null,
  }
}

function textsOf(content: string | { type: string; [field: string]: unknown }[]): string[] {
  if (typeof content === 'string') return [content]
  return content.flatMap((block) => {
    if (block.type === 'text') return [String(block['text'])]
    if (block.type === 'tool_result') return textsOf((block['content'] ?? []) as typeof content)
    return block.type === 'tool_use' ? [String(block['name']), JSON.stringify(block['input'])] : []
  })
}
