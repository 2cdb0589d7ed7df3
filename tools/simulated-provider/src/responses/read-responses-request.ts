import { z } from 'zod'
import { type ChatRequest, tokensPerFile, tokensPerImage } from '../read-chat-request.ts'
import { callIdAfter, encryptedThought, thoughtful } from './responses-dialect.ts'

// As strict as the real API: an adapter that sends an unknown field is refused here too.

const inputText = z.strictObject({ type: z.literal('input_text'), text: z.string() })
const inputImage = z.strictObject({
  type: z.literal('input_image'),
  image_url: z.string().regex(/^(https:|data:image\/(png|jpeg|webp|gif);base64,)/),
  detail: z.enum(['auto', 'low', 'high', 'original']),
})
const inputFile = z.strictObject({
  type: z.literal('input_file'),
  filename: z.string().min(1),
  file_data: z.string().regex(/^data:application\/pdf;base64,/),
})
const input = z.union([z.string(), z.array(z.discriminatedUnion('type', [inputText, inputImage, inputFile])).min(1)])
const output = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('output_text'), text: z.string(), annotations: z.array(z.unknown()).max(0) }),
  z.strictObject({ type: z.literal('refusal'), refusal: z.string() }),
])
const callId = z.string().min(1).max(64)

const item = z.union([
  z.strictObject({ type: z.literal('message'), role: z.enum(['user', 'system', 'developer']), content: input }),
  z.strictObject({ type: z.literal('message'), role: z.literal('assistant'), content: z.array(output).min(1) }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: z.string().regex(/^rs_/),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
    encrypted_content: z.string(),
  }),
  z.strictObject({ type: z.literal('function_call'), call_id: callId, name: z.string(), arguments: z.string() }),
  z.strictObject({ type: z.literal('function_call_output'), call_id: callId, output: input }),
])
type Item = z.infer<typeof item>

const request = z
  .strictObject({
    model: z.string().min(1),
    input: z.array(item).min(1),
    max_output_tokens: z.int().min(1),
    stream: z.boolean().optional(),
    store: z.literal(false, 'a response is stored unless store is false'),
    include: z.array(z.enum(['reasoning.encrypted_content', 'message.output_text.logprobs'])).optional(),
    temperature: z.number().min(0).max(2).optional(),
    top_p: z.number().gt(0).max(1).optional(),
    top_logprobs: z.int().min(0).max(20).optional(),
    parallel_tool_calls: z.boolean().optional(),
    tools: z
      .array(
        z.strictObject({
          type: z.literal('function'),
          name: z.string(),
          description: z.string().optional(),
          parameters: z.record(z.string(), z.unknown()),
          strict: z.boolean(),
        }),
      )
      .optional(),
    tool_choice: z
      .union([z.enum(['auto', 'none', 'required']), z.strictObject({ type: z.literal('function'), name: z.string() })])
      .optional(),
    reasoning: z.strictObject({ effort: z.string(), summary: z.literal('auto').optional() }).optional(),
    text: z
      .strictObject({
        verbosity: z.enum(['low', 'medium', 'high']).optional(),
        format: z
          .discriminatedUnion('type', [
            z.strictObject({ type: z.literal('text') }),
            z.strictObject({ type: z.literal('json_object') }),
            z.strictObject({
              type: z.literal('json_schema'),
              name: z.string(),
              description: z.string().optional(),
              schema: z.record(z.string(), z.unknown()),
              strict: z.boolean(),
            }),
          ])
          .optional(),
      })
      .optional(),
  })
  .superRefine(({ input: items }, context) => {
    const problem = (text: string): void => context.addIssue({ code: 'custom', message: text })
    for (const [n, one] of items.entries()) {
      if (one.type === 'reasoning') problemOfThought(one, items[n + 1], `input.${n}`, problem)
      if (one.type === 'function_call') problemOfCall(one, items.slice(0, n), items.slice(n + 1), `input.${n}`, problem)
      if (one.type === 'function_call_output' && callsOf(items.slice(0, n), one.call_id).length === 0)
        problem(`input.${n}: no tool call found for call_id ${one.call_id}`)
    }
  })

type Problem = (text: string) => void

function problemOfThought(
  { id, summary, encrypted_content: encrypted }: Extract<Item, { type: 'reasoning' }>,
  next: Item | undefined,
  where: string,
  problem: Problem,
): void {
  if (encrypted !== encryptedThought(id, summary.map(({ text }) => text).join('')))
    problem(`${where}: the encrypted content for item ${id} could not be verified`)
  if (
    next === undefined ||
    next.type === 'function_call_output' ||
    (next.type === 'message' && next.role !== 'assistant')
  )
    problem(`${where}: item ${id} of type reasoning was provided without its required following item`)
}

function problemOfCall(
  { call_id: id }: Extract<Item, { type: 'function_call' }>,
  before: Item[],
  after: Item[],
  where: string,
  problem: Problem,
): void {
  const last = before.at(-1)
  if (id.startsWith(thoughtful) && (last?.type !== 'reasoning' || callIdAfter(last.id) !== id))
    problem(`${where}: the function_call ${id} was provided without its required reasoning item`)
  if (!after.some((other) => other.type === 'function_call_output' && other.call_id === id))
    problem(`${where}: no tool output found for function call ${id}`)
}

function callsOf(items: Item[], id: string): Item[] {
  return items.filter((one) => one.type === 'function_call' && one.call_id === id)
}

/** Reads a Responses request as a chat request. Throws an error that states what is wrong with it. */
export function readResponsesRequest(body: unknown): ChatRequest {
  const read = request.safeParse(body)
  if (!read.success) throw new Error(z.prettifyError(read.error))
  const { model, input: items, tools, tool_choice: choice, text, ...asked } = read.data
  const texts: string[] = []
  let lastUserText = ''
  let mediaTokens = 0
  for (const one of items) {
    const found = textsOf(one)
    texts.push(...found)
    if (one.type !== 'message') continue
    if (one.role === 'user') lastUserText = found.at(-1) ?? lastUserText
    if (typeof one.content === 'string') continue
    for (const { type } of one.content)
      mediaTokens += type === 'input_image' ? tokensPerImage : type === 'input_file' ? tokensPerFile : 0
  }
  const characters = texts.reduce((sum, each) => sum + each.length, 0)
  const counted = items.filter(({ type }) => type === 'message' || type === 'function_call_output').length
  const named = typeof choice === 'object' ? choice.name : undefined
  const tool = (tools ?? []).find(({ name }) => named === undefined || name === named)
  const answersTool = items.some(({ type }) => type === 'function_call_output')
  const format = text?.format
  return {
    model,
    prompt: texts.join('\n'),
    lastUserText,
    promptTokens: Math.ceil(characters / 4) + 4 * counted + mediaTokens,
    stream: asked.stream ?? false,
    includeUsage: true,
    outputCap: asked.max_output_tokens,
    seed: 'null',
    stop: [],
    tool: tool && choice !== 'none' && !answersTool ? { name: tool.name, parameters: tool.parameters } : null,
    json: format?.type === 'json_schema' ? format.schema : format?.type === 'json_object' ? {} : null,
  }
}

function textsOf(one: Item): string[] {
  if (one.type === 'reasoning') return []
  if (one.type === 'function_call') return [one.name, one.arguments]
  const content = one.type === 'message' ? one.content : one.output
  if (typeof content === 'string') return [content]
  return content.flatMap((part) =>
    part.type === 'input_image' || part.type === 'input_file'
      ? []
      : part.type === 'refusal'
        ? [part.refusal]
        : [part.text],
  )
}
