import type { Forwarded } from '@gateway/contracts/chat-request'

/** What of a request the model reads as text. Images aren't text, and numbers such as temperature aren't read. */
export function promptText({ messages, tools, response_format: format }: Forwarded): string {
  const texts: string[] = []
  for (const message of messages) {
    texts.push(message.role)
    if ('name' in message && message.name) texts.push(message.name)
    texts.push(...textsOf(message.content))
    if (message.role !== 'assistant') continue
    for (const thought of [message.refusal, message.reasoning_content, message.reasoning])
      if (thought) texts.push(thought)
    for (const { function: called } of message.tool_calls ?? []) texts.push(called.name, called.arguments)
  }
  for (const described of [tools, format]) if (described !== undefined) texts.push(JSON.stringify(described))
  return texts.join('\n')
}

function textsOf(content: Forwarded['messages'][number]['content']): string[] {
  if (typeof content === 'string') return [content]
  return (content ?? []).flatMap((part) => {
    if (part.type === 'text') return [part.text]
    return part.type === 'refusal' ? [part.refusal] : []
  })
}
