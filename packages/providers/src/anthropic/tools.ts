import type { Forwarded } from '@gateway/contracts/chat-request'
import { nameOfChoice } from '../unlike-chat.ts'

interface ChatTool {
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean | null }
}

/** Tools and the choice among them. Throws `NotInWireFormat` for a choice that the format lacks. */
export function toolsOf(asked: Forwarded): object {
  const tools = asked['tools'] as ChatTool[] | undefined
  if (!tools) return {}
  const choice = choiceOf(asked['tool_choice'], asked['parallel_tool_calls'] === false)
  return { tools: tools.map(toolOf), ...(choice && { tool_choice: choice }) }
}

function toolOf({ function: { name, description, parameters, strict } }: ChatTool): object {
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: { type: 'object', ...parameters },
    ...(strict && { strict }),
  }
}

function choiceOf(choice: unknown, oneAtATime: boolean): object | null {
  const onlyOne = oneAtATime && { disable_parallel_tool_use: true }
  switch (choice) {
    case undefined:
      return oneAtATime ? { type: 'auto', ...onlyOne } : null
    case 'none':
      return { type: 'none' }
    case 'auto':
      return { type: 'auto', ...onlyOne }
    case 'required':
      return { type: 'any', ...onlyOne }
    default:
      return { type: 'tool', name: nameOfChoice(choice), ...onlyOne }
  }
}
