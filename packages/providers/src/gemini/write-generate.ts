import type { Forwarded } from '@gateway/contracts/chat-request'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { nameOfChoice, refuseFields } from '../unlike-chat.ts'
import { NotInWireFormat, type WireCall } from '../wire-format.ts'
import { contentsOf } from './contents.ts'
import { thinkingOf } from './thinking.ts'

/** Writes a chat request in the generateContent format. What that format lacks is refused (`NotInWireFormat`). */
export function writeGenerate({ model, forwarded, outputCap }: WireCall, seal: ReasoningSeal): string {
  const asked = JSON.parse(forwarded) as Forwarded
  refuseFields(asked, ['logit_bias', 'logprobs', 'verbosity'])
  if (asked['parallel_tool_calls'] === false)
    throw new NotInWireFormat('parallel_tool_calls', 'is false, and this model can not be kept from it')
  // From the third generation on the current round of tools is refused where its calls are not signed.
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

/** A forced call keeps to its schema anyway; a free one does where it is asked to. */
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
