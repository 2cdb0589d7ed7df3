import type { ChatMessage } from '../core/messages-of.ts'

interface Part {
  type: string
  text?: string
  image_url?: { url: string }
}
interface Call {
  id: string
  function: { name: string; arguments: string }
}

/** Messages in the format of the Vercel AI SDK. */
export function aiSdkMessages(messages: readonly ChatMessage[]): { system: string | undefined; messages: object[] } {
  const names = new Map<string, string>()
  const system = messages.find(({ role }) => role === 'system')?.content as string | undefined
  const others = messages.filter(({ role }) => role !== 'system')
  return { system, messages: others.map((message) => messageOf(message, names)) }
}

/** @param names tool names by call ID; tool results contain the ID only */
function messageOf(message: ChatMessage, names: Map<string, string>): object {
  const { role, content } = message
  if (role === 'tool') {
    const { tool_call_id: toolCallId } = message as { tool_call_id: string }
    const output = { type: 'text', value: content }
    return { role, content: [{ type: 'tool-result', toolCallId, toolName: names.get(toolCallId), output }] }
  }
  const calls = ('tool_calls' in message ? (message.tool_calls as Call[] | undefined) : undefined) ?? []
  if (calls.length === 0) return { role, content: Array.isArray(content) ? (content as Part[]).map(partOf) : content }
  for (const { id, function: called } of calls) names.set(id, called.name)
  const text = content ? [{ type: 'text', text: content }] : []
  return { role, content: [...text, ...calls.map(callOf)] }
}

function partOf({ type, text, image_url: image }: Part): object {
  if (type !== 'image_url' || !image) return { type, text }
  const [, mediaType = 'image'] = /^data:([^;]+);/.exec(image.url) ?? []
  return { type: 'file', mediaType, data: image.url }
}

function callOf({ id, function: { name, arguments: given } }: Call): object {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: parsed(given) }
}

/** Parsed arguments, or the text itself if the model wrote invalid JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
