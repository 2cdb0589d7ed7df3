import { z } from 'zod'
import { tokensPerFile, tokensPerImage, type ChatRequest } from '../read-chat-request.ts'

// As strict as the real API, which also refuses unknown fields.

const signature = { thoughtSignature: z.string().min(1).optional() }
const textPart = z.strictObject({ text: z.string().min(1), thought: z.boolean().optional(), ...signature })
const PDF = 'application/pdf'
const imagePart = z.strictObject({
  inlineData: z.strictObject({ mimeType: z.enum(['image/png', 'image/jpeg', 'image/webp', PDF]), data: z.base64() }),
})
const callPart = z.strictObject({
  functionCall: z.strictObject({
    id: z.string().optional(),
    name: z.string().regex(/^[A-Za-z_][\w.:-]{0,127}$/),
    args: z.record(z.string(), z.unknown()).optional(),
  }),
  ...signature,
})
const resultPart = z.strictObject({
  functionResponse: z.strictObject({
    id: z.string().optional(),
    name: z.string().min(1),
    response: z.record(z.string(), z.unknown()),
  }),
})
const content = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), parts: z.array(z.union([textPart, imagePart, resultPart])).min(1) }),
  z.strictObject({ role: z.literal('model'), parts: z.array(z.union([textPart, callPart])).min(1) }),
])

const request = z
  .strictObject({
    contents: z.array(content).min(1),
    systemInstruction: z.strictObject({ parts: z.array(textPart).min(1) }).optional(),
    tools: z
      .array(
        z.strictObject({
          functionDeclarations: z.array(
            z.strictObject({
              name: z.string(),
              description: z.string().optional(),
              parametersJsonSchema: z.record(z.string(), z.unknown()).optional(),
            }),
          ),
        }),
      )
      .optional(),
    toolConfig: z
      .strictObject({
        functionCallingConfig: z.strictObject({
          mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']),
          allowedFunctionNames: z.array(z.string()).optional(),
        }),
      })
      .optional(),
    generationConfig: z
      .strictObject({
        maxOutputTokens: z.int().min(1),
        temperature: z.number().min(0).max(2).optional(),
        topP: z.number().gt(0).max(1).optional(),
        seed: z.int().optional(),
        frequencyPenalty: z.number().optional(),
        presencePenalty: z.number().optional(),
        stopSequences: z.array(z.string()).max(5).optional(),
        responseMimeType: z.enum(['text/plain', 'application/json']).optional(),
        responseJsonSchema: z.record(z.string(), z.unknown()).optional(),
        thinkingConfig: z
          .strictObject({
            thinkingBudget: z.int().min(0).optional(),
            thinkingLevel: z.enum(['minimal', 'low', 'medium', 'high']).optional(),
            includeThoughts: z.boolean().optional(),
          })
          .optional(),
      })
      .optional(),
  })
  .superRefine(({ contents }, context) => {
    const problem = (text: string): void => context.addIssue({ code: 'custom', message: text })
    contents.forEach(({ role, parts }, n) => {
      const calls = callsOf(contents[n - 1])
      const results = parts.flatMap((part) => ('functionResponse' in part ? [part.functionResponse.name] : []))
      if (calls.join() !== results.join())
        problem('Please ensure that the number of function response parts is equal to that of the function call parts')
      // A continued round of tool calls must be signed, in the first call of each step.
      const first = role === 'model' ? parts.find((part) => 'functionCall' in part) : undefined
      if (first && n === contents.length - 2 && first.thoughtSignature === undefined)
        problem('Function call is missing a thought_signature in functionCall parts')
    })
  })

type Content = z.infer<typeof content>

function callsOf(before: Content | undefined): string[] {
  return before?.role === 'model'
    ? before.parts.flatMap((part) => ('functionCall' in part ? [part.functionCall.name] : []))
    : []
}

/** Reads a generateContent request as a chat request. Throws an error that states what is wrong with it. */
export function readGenerateRequest(model: string, stream: boolean, body: unknown): ChatRequest {
  const read = request.safeParse(body)
  if (!read.success) throw new Error(z.prettifyError(read.error))
  const { contents, systemInstruction, tools, toolConfig, generationConfig: config } = read.data
  const parts = [...(systemInstruction?.parts ?? []), ...contents.flatMap((one): object[] => one.parts)]
  const texts = parts.flatMap(textsOf)
  const inline = contents.flatMap((one) => one.parts.flatMap((part) => ('inlineData' in part ? part.inlineData : [])))
  const files = inline.filter(({ mimeType }) => mimeType === PDF).length
  const last = contents.findLast(({ role }) => role === 'user')
  const choice = toolConfig?.functionCallingConfig
  const named = choice?.allowedFunctionNames?.[0]
  const tool = tools?.[0]?.functionDeclarations.find(({ name }) => named === undefined || name === named)
  const answersTool = parts.some((part) => 'functionResponse' in part)
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  return {
    model,
    prompt: texts.join('\n'),
    lastUserText: (last?.parts ?? []).flatMap(textsOf).at(-1) ?? '',
    promptTokens:
      Math.ceil(characters / 4) +
      4 * contents.length +
      tokensPerImage * (inline.length - files) +
      tokensPerFile * files,
    stream,
    includeUsage: true,
    outputCap: config?.maxOutputTokens ?? 1024,
    seed: JSON.stringify(config?.seed ?? null),
    stop: config?.stopSequences ?? [],
    tool:
      tool && choice?.mode !== 'NONE' && !answersTool
        ? { name: tool.name, parameters: tool.parametersJsonSchema ?? {} }
        : null,
    json: config?.responseMimeType === 'application/json' ? (config.responseJsonSchema ?? {}) : null,
  }
}

function textsOf(part: object): string[] {
  if ('text' in part) return [String(part.text)]
  if ('functionCall' in part) return [JSON.stringify(part.functionCall)]
  return 'functionResponse' in part ? [JSON.stringify(part.functionResponse)] : []
}
