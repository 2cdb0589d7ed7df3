import type {
  ConverseCommandInput,
  Tool,
  ToolChoice,
  ToolConfiguration,
  ToolInputSchema,
} from '@aws-sdk/client-bedrock-runtime'
import type { Forwarded } from '@gateway/contracts/chat-request'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { nameOfChoice, refuseFields } from '../unlike-chat.ts'
import { NotInWireFormat, type WireCall } from '../wire-format.ts'
import { converseMessages } from './converse-messages.ts'

const lacking = [
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'verbosity',
  'reasoning_effort',
]

/** Writes a chat request as the input of Converse. What that lacks is refused (`NotInWireFormat`). */
export function writeConverse({ model, forwarded, outputCap }: WireCall, seal: ReasoningSeal): ConverseCommandInput {
  const asked = JSON.parse(forwarded) as Forwarded
  refuseUnsayable(asked)
  const { temperature, top_p: topP } = asked as { temperature?: number; top_p?: number }
  const stop = [asked['stop'] ?? []].flat() as string[]
  const { system, messages } = converseMessages(asked.messages, seal)
  const toolConfig = toolsOf(asked)
  return {
    modelId: model,
    messages,
    ...(system.length > 0 && { system }),
    inferenceConfig: {
      maxTokens: outputCap,
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(stop.length > 0 && { stopSequences: stop }),
    },
    ...(toolConfig && { toolConfig }),
  }
}

function refuseUnsayable(asked: Forwarded): void {
  refuseFields(asked, lacking)
  const { type } = (asked['response_format'] ?? { type: 'text' }) as { type: string }
  if (type !== 'text')
    throw new NotInWireFormat(
      'response_format',
      `is ${type}, which this model does not know`,
      'describe it in the prompt',
    )
  if (asked['parallel_tool_calls'] === false)
    throw new NotInWireFormat('parallel_tool_calls', 'is false, and this model can not be kept from it')
  if (Number(asked['temperature'] ?? 0) > 1)
    throw new NotInWireFormat('temperature', 'is above 1, the most that this model takes', 'send 1 or less')
}

interface ChatTool {
  function: { name: string; description?: string; parameters?: object; strict?: boolean | null }
}

/** No choice says `none` here: then no tools are sent, which a conversation with calls in it does not permit. */
function toolsOf(asked: Forwarded): ToolConfiguration | null {
  const given = asked['tools'] as ChatTool[] | undefined
  const called = asked.messages.some((message) => message.role === 'tool' || 'tool_calls' in message)
  if (asked['tool_choice'] === 'none' && called)
    throw new NotInWireFormat('tool_choice', 'is none after a tool was called', 'send auto')
  if (!given || asked['tool_choice'] === 'none') return null
  const tools = given.map(({ function: { name, description, parameters } }): Tool => {
    const inputSchema = { json: { type: 'object', ...parameters } } as ToolInputSchema
    return { toolSpec: { name, ...(description !== undefined && { description }), inputSchema } }
  })
  const toolChoice = choiceOf(asked['tool_choice'])
  return { tools, ...(toolChoice && { toolChoice }) }
}

function choiceOf(choice: unknown): ToolChoice | null {
  switch (choice) {
    case undefined:
      return null
    case 'auto':
      return { auto: {} }
    case 'required':
      return { any: {} }
    default:
      return { tool: { name: nameOfChoice(choice) } }
  }
}
