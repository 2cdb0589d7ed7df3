import type { Forwarded } from '@gateway/api/chat-request'
import type { ReasoningSeal } from '../openai-responses/reasoning-item.ts'
import { argumentsOf, inlineData, nameOfChoice, refuseFields, refuseUnlikeMessages, textsOf } from '../unlike-chat.ts'
import { NotInWireFormat, type WireCall } from '../wire-format.ts'

/** Writes a chat request in the generateContent format. Refuses what the format lacks (`NotInWireFormat`). */
export function writeGenerate({ model, forwarded, outputCap }: WireCall, seal: ReasoningSeal): string {
  const asked = JSON.parse(forwarded) as Forwarded
  refuseFields(asked, ['logit_bias', 'logprobs', 'verbosity'])
  if (asked['parallel_tool_calls'] === false)
    throw new NotInWireFormat('parallel_tool_calls', 'is false, and this model cannot be kept from it')
  // Models from generation 3 on reject the current tool round if its calls are not signed.
  const signed = !/^gemini-[12]\b/.test(model)
  const { instructions, contents } = contentsOf(asked.messages, signed, seal)
  return JSON.stringify({
    contents,
    ...(instructions.length > 0 && { systemInstruction: { parts: instructions } }),
    ...toolsOf(asked),
    generationConfig: {
      maxOutputTokens: outputCap,
      ...samplingOf(asked),
      ...formatOf(asked),
      ...thinkingOf(model, asked['reasoning_effort']),
    },
  })
}

function samplingOf(asked: Forwarded): object {
  const names = {
    temperature: 'temperature',
    top_p: 'topP',
    top_k: 'topK',
    seed: 'seed',
    frequency_penalty: 'frequencyPenalty',
    presence_penalty: 'presencePenalty',
  }
  const sampling: Record<string, unknown> = {}
  for (const [field, name] of Object.entries(names)) if (asked[field] !== undefined) sampling[name] = asked[field]
  const stop = [asked['stop'] ?? []].flat()
  return { ...sampling, ...(stop.length > 0 && { stopSequences: stop }) }
}

function formatOf(asked: Forwarded): object {
  const { type, json_schema: described } = (asked['response_format'] ?? {}) as {
    type?: string
    json_schema?: { schema?: unknown }
  }
  if (type !== 'json_object' && type !== 'json_schema') return {}
  const schema = type === 'json_schema' ? described?.schema : undefined
  return { responseMimeType: 'application/json', ...(schema !== undefined && { responseJsonSchema: schema }) }
}

interface ChatTool {
  function: { name: string; description?: string; parameters?: object; strict?: boolean | null }
}

function toolsOf(asked: Forwarded): object {
  const tools = asked['tools'] as ChatTool[] | undefined
  if (!tools) return {}
  const functionDeclarations = tools.map(({ function: { name, description, parameters } }) => ({
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parametersJsonSchema: parameters }),
  }))
  const strict = tools.some((tool) => tool.function.strict)
  const config = choiceOf(asked['tool_choice'], strict)
  return { tools: [{ functionDeclarations }], ...(config && { toolConfig: { functionCallingConfig: config } }) }
}

/** A forced call always follows its schema; a free one only in mode VALIDATED. */
function choiceOf(choice: unknown, strict: boolean): object | null {
  switch (choice) {
    case undefined:
    case 'auto':
      return strict ? { mode: 'VALIDATED' } : choice === 'auto' ? { mode: 'AUTO' } : null
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    default:
      return { mode: 'ANY', allowedFunctionNames: [nameOfChoice(choice)] }
  }
}

type ChatMessage = Forwarded['messages'][number]
type Assistant = Extract<ChatMessage, { role: 'assistant' }>
type Part = Record<string, unknown>

interface Content {
  role: 'user' | 'model'
  parts: Part[]
}

/** Placeholder for a required signature that is missing because another model made the call (docs/providers.md). */
const noSignature = 'skip_thought_signature_validator'

/**
 * Converts the messages of a chat request to contents of user and model. Instructions are separate, and tool results
 * are user parts that name the function. Throws `NotInWireFormat`.
 */
function contentsOf(messages: readonly ChatMessage[], signed: boolean, seal: ReasoningSeal) {
  refuseUnlikeMessages(messages)
  const instructions: Part[] = []
  const contents: Content[] = []
  const functions = new Map<string, string>()
  messages.forEach((message, n) => {
    if (message.role === 'system') return void instructions.push(...textParts(message.content))
    for (const { id, function: called } of callsOf(message)) functions.set(id, called.name)
    const role = message.role === 'assistant' ? 'model' : 'user'
    const parts = partsOf(message)
    const last = contents.at(-1)
    if (parts.length === 0) return
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts })

    function partsOf(of: Exclude<ChatMessage, { role: 'system' }>): Part[] {
      switch (of.role) {
        case 'user':
          return userParts(of.content, n)
        case 'tool':
          return [toolResult(of, functions.get(of.tool_call_id), n)]
        case 'assistant':
          return answerParts(of, n, signed, seal)
      }
    }
  })
  if (contents.length > 0) return { instructions, contents }
  return { instructions: [], contents: [{ role: 'user', parts: instructions }] }
}

function callsOf(message: ChatMessage): NonNullable<Assistant['tool_calls']> {
  return message.role === 'assistant' ? (message.tool_calls ?? []) : []
}

function answerParts(message: Assistant, n: number, signed: boolean, seal: ReasoningSeal): Part[] {
  const signatures = signaturesOf(message, seal)
  const texts = [...textParts(message.content), ...(message.refusal ? textParts(message.refusal) : [])]
  const last = texts.at(-1)
  const ofText = signatures.get('')
  if (last && ofText !== undefined) last['thoughtSignature'] = ofText
  const calls = callsOf(message).map(({ id, function: called }, at): Part => {
    const args = argumentsOf(called.arguments, `messages.${n}.tool_calls.${at}.function.arguments`)
    // Only the first of several parallel calls is signed.
    const signature = signatures.get(id) ?? (signed && at === 0 ? noSignature : undefined)
    return {
      functionCall: { id, name: called.name, args },
      ...(signature !== undefined && { thoughtSignature: signature }),
    }
  })
  return [...texts, ...calls]
}

/** Returns the signatures by the ID of their tool call, or '' for the text. */
function signaturesOf({ reasoning_details: details }: Assistant, { open }: ReasoningSeal): Map<string, string> {
  const signatures = new Map<string, string>()
  for (const detail of details ?? []) {
    if (detail.type !== 'reasoning.encrypted') continue
    const signature = open(detail.data, detail.id ?? '')
    if (signature !== null) signatures.set(detail.id ?? '', signature)
  }
  return signatures
}

function toolResult(
  { tool_call_id: id, content }: Extract<ChatMessage, { role: 'tool' }>,
  name: string | undefined,
  n: number,
): Part {
  if (name === undefined)
    throw new NotInWireFormat(`messages.${n}.tool_call_id`, 'answers no tool call before it', 'send the call too')
  return { functionResponse: { id, name, response: { output: textsOf(content).join('\n') } } }
}

function userParts(content: ChatMessage['content'], n: number): Part[] {
  if (typeof content === 'string' || !content) return textParts(content)
  return content.flatMap((part, at): Part[] => {
    const field = `messages.${n}.content.${at}`
    if (part.type === 'image_url') return [inlinePart(part.image_url.url, `${field}.image_url`)]
    if (part.type === 'file') return [inlinePart(part.file.file_data, `${field}.file`)]
    return textParts([part])
  })
}

function inlinePart(url: string, field: string): Part {
  const inline = inlineData(url)
  if (inline === null) throw new NotInWireFormat(field, 'is an address', 'send the image itself, as a data: URL')
  if (inline.type === 'image/gif') throw new NotInWireFormat(field, 'is a GIF', 'send PNG, JPEG or WebP')
  return { inlineData: { mimeType: inline.type, data: inline.base64 } }
}

function textParts(content: ChatMessage['content']): Part[] {
  return textsOf(content).map((text) => ({ text }))
}

/** Tokens, from the table at https://ai.google.dev/gemini-api/docs/openai#thinking. */
const budgets: Record<string, number> = { none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576 }
const levels = new Set(['minimal', 'low', 'medium', 'high'])

/**
 * Writes `reasoning_effort`: models up to 2.5 take a token budget, newer ones a level and can't disable thinking.
 * Thinking is requested together with a summary of it. Throws `NotInWireFormat`.
 */
function thinkingOf(model: string, effort: unknown): object {
  if (effort === undefined) return {}
  const known = typeof effort === 'string' ? effort : ''
  if (/^gemini-[12]\b/.test(model)) {
    if (!Object.hasOwn(budgets, known)) throw unknownEffort('none, minimal, low, medium or high')
    return { thinkingConfig: { thinkingBudget: budgets[known], ...(known !== 'none' && { includeThoughts: true }) } }
  }
  if (!levels.has(known)) throw unknownEffort('minimal, low, medium or high')
  return { thinkingConfig: { thinkingLevel: known, includeThoughts: true } }
}

function unknownEffort(those: string): NotInWireFormat {
  return new NotInWireFormat('reasoning_effort', 'is none that this model knows', `send ${those}`)
}
