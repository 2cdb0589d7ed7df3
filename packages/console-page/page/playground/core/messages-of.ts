import type { BodyOf } from '@gateway/api/api-route'
import type { gatewayRoutes } from '@gateway/api/gateway-routes'
import type { Answer, Conversation, Entry } from './conversation.ts'

export type ChatBody = BodyOf<typeof gatewayRoutes.completeChat>
export type ChatMessage = ChatBody['messages'][number]

/** Messages for the model of a column: the typed messages and that model's own responses. */
export function messagesOf(
  { system, entries }: Pick<Conversation, 'system' | 'entries'>,
  column: number,
): ChatMessage[] {
  const messages = entries.flatMap((entry) => entryMessages(entry, column))
  return system.trim() === '' ? messages : [{ role: 'system', content: system }, ...messages]
}

function entryMessages(entry: Entry, column: number): ChatMessage[] {
  if (entry.kind === 'answers') return answerMessages(entry.columns[column] ?? entry.columns[0])
  const { role, text, images } = entry
  if (role === 'assistant' || images.length === 0) return [{ role, content: text }]
  const parts = images.map((url) => ({ type: 'image_url' as const, image_url: { url } }))
  return [{ role, content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts] }]
}

/** An empty response is omitted. */
function answerMessages(answer: Answer | undefined): ChatMessage[] {
  if (!answer || (answer.text === '' && answer.toolCalls.length === 0)) return []
  const { text, toolCalls } = answer
  if (toolCalls.length === 0) return [{ role: 'assistant', content: text }]
  const calls = toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: given },
  }))
  return [
    { role: 'assistant', content: text === '' ? null : text, tool_calls: calls },
    ...toolCalls.map(({ id, result }) => ({ role: 'tool' as const, tool_call_id: id, content: result })),
  ]
}
