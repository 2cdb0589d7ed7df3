import { z } from 'zod'
import { tokensPerFile, tokensPerImage, type ChatRequest } from '../read-chat-request.ts'

// As strict as the real API, which responds with a ValidationException.

const said = z.string().regex(/\S/, 'The text field in the ContentBlock object is blank')
const textBlock = z.strictObject({ text: said })
const imageBlock = z.strictObject({
  image: z.strictObject({
    format: z.enum(['png', 'jpeg', 'gif', 'webp']),
    source: z.strictObject({ bytes: z.base64() }),
  }),
})
const documentBlock = z.strictObject({
  document: z.strictObject({
    format: z.literal('pdf'),
    name: z.string().regex(/^[A-Za-z0-9\s()[\]-]{1,200}$/),
    source: z.strictObject({ bytes: z.base64() }),
  }),
})
const id = z.string().regex(/^[\w-]{1,64}$/)
const toolUse = z.strictObject({
  toolUse: z.strictObject({ toolUseId: id, name: z.string(), input: z.record(z.string(), z.unknown()) }),
})
const toolResult = z.strictObject({
  toolResult: z.strictObject({
    toolUseId: id,
    content: z.array(textBlock),
    status: z.enum(['success', 'error']).optional(),
  }),
})
const reasoning = z.strictObject({
  reasoningContent: z.union([
    z.strictObject({ reasoningText: z.strictObject({ text: z.string(), signature: z.string().min(1) }) }),
    z.strictObject({ redactedContent: z.base64() }),
  ]),
})
/** Ends a prefix to cache. */
const cachePoint = z.strictObject({
  cachePoint: z.strictObject({ type: z.literal('default'), ttl: z.enum(['5m', '1h']).optional() }),
})
const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z
      .array(z.union([textBlock, imageBlock, documentBlock, toolResult, cachePoint]))
      .min(1)
      .refine(
        (blocks) => !blocks.some((block) => 'document' in block) || blocks.some((block) => 'text' in block),
        'a document needs a text',
      ),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.array(z.union([textBlock, toolUse, reasoning, cachePoint])).min(1),
  }),
])

const request = z
  .strictObject({
    messages: z.array(message).min(1),
    system: z.array(z.union([textBlock, cachePoint])).optional(),
    inferenceConfig: z
      .strictObject({
        maxTokens: z.int().min(1),
        temperature: z.number().min(0).max(1).optional(),
        topP: z.number().min(0).max(1).optional(),
        stopSequences: z.array(said).max(2500).optional(),
      })
      .optional(),
    toolConfig: z
      .strictObject({
        tools: z
          .array(
            z.union([
              cachePoint,
              z.strictObject({
                toolSpec: z.strictObject({
                  name: z.string().regex(/^[\w-]{1,64}$/),
                  description: z.string().min(1).optional(),
                  inputSchema: z.strictObject({ json: z.looseObject({ type: z.literal('object') }) }),
                }),
              }),
            ]),
          )
          .min(1),
        toolChoice: z
          .union([
            z.strictObject({ auto: z.strictObject({}) }),
            z.strictObject({ any: z.strictObject({}) }),
            z.strictObject({ tool: z.strictObject({ name: z.string() }) }),
          ])
          .optional(),
      })
      .optional(),
  })
  .superRefine(({ messages, toolConfig }, context) => {
    const problem = (text: string): void => context.addIssue({ code: 'custom', message: text })
    messages.forEach(({ role, content }, n) => {
      if (role !== (n % 2 === 0 ? 'user' : 'assistant'))
        problem('A conversation must alternate between user and assistant roles')
      const uses = usesOf(messages[n - 1])
      const results = content.flatMap((block) => ('toolResult' in block ? [block.toolResult.toolUseId] : []))
      if (uses.toSorted().join() !== results.toSorted().join())
        problem('Expected toolResult blocks for the toolUse blocks')
      if (uses.length > 0 && !toolConfig)
        problem('The toolConfig field must be defined when using toolUse and toolResult')
    })
  })

type Message = z.infer<typeof message>

function usesOf(before: Message | undefined): string[] {
  return before?.role === 'assistant'
    ? before.content.flatMap((block) => ('toolUse' in block ? [block.toolUse.toolUseId] : []))
    : []
}

/** Reads a Converse request as a chat request. Throws an error that states what is wrong with it. */
export function readConverseRequest(model: string, stream: boolean, body: unknown): ChatRequest {
  const read = request.safeParse(body)
  if (!read.success) throw new Error(z.prettifyError(read.error))
  const { messages, system = [], inferenceConfig: config, toolConfig } = read.data
  const blocks: object[] = [...system, ...messages.flatMap(({ content }): object[] => content)]
  const texts = blocks.flatMap(textsOf)
  const images = blocks.filter((block) => 'image' in block).length
  const files = blocks.filter((block) => 'document' in block).length
  const last = messages.findLast(({ role }) => role === 'user')
  const choice = toolConfig?.toolChoice
  const named = choice && 'tool' in choice ? choice.tool.name : undefined
  const spec = toolConfig?.tools
    .flatMap((tool) => ('toolSpec' in tool ? [tool.toolSpec] : []))
    .find(({ name }) => named === undefined || name === named)
  const answersTool = blocks.some((block) => 'toolResult' in block)
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  return {
    model,
    prompt: texts.join('\n'),
    lastUserText: (last?.content ?? []).flatMap(textsOf).at(-1) ?? '',
    promptTokens: Math.ceil(characters / 4) + 4 * messages.length + tokensPerImage * images + tokensPerFile * files,
    stream,
    includeUsage: true,
    outputCap: config?.maxTokens ?? 1024,
    seed: 'null',
    stop: config?.stopSequences ?? [],
    tool: spec && !answersTool ? { name: spec.name, parameters: spec.inputSchema.json } : null,
    json: null,
  }
}

function textsOf(block: object): string[] {
  if ('text' in block) return [String(block.text)]
  if ('toolUse' in block) return [JSON.stringify(block.toolUse)]
  return 'toolResult' in block ? [JSON.stringify(block.toolResult)] : []
}
