import type { BodyOf } from '@gateway/api/api-route'
import type { gatewayRoutes } from '@gateway/api/gateway-routes'
import type { Answer, Conversation, Entry } from './conversation.ts'

export type ChatBody = BodyOf<typeof gatewayRoutes.completeChat>
export type ChatMessage = ChatBody['messages'][number]

/** What is sent of a conversation to the model of a column: each model sees its own answers, and what people wrote. */
export function messagesOf(
  { system, entries }: Pick<Conversation, 'system' | 'entries'>,
  column: number,
): ChatMessage[] {
  const said = entries.flatMap((entry) => spoken(entry, column))
  return system.trim() === '' ? said : [{ role: 'system', content: system }, ...said]
}

function spoken(entry: Entry, column: number): ChatMessage[] {
  if (entry.kind === 'answers') return answered(entry.columns[column] ?? entry.columns[0])
  const { role, text, images } = entry
  if (role === 'assistant' || images.length === 0) return [{ role, content: text }]
  const parts = images.map((url) => ({ type: 'image_url' as const, image_url: { url } }))
  return [{ role, content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts] }]
}

/** An answer that said nothing is not sent. */
function answered(answer: Answer | undefined): ChatMessage[] {
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
