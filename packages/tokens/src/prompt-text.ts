import type { Forwarded } from '@gateway/api/chat-request'

/**
 * The text of a request that the model reads. Images aren't text, and numbers such as temperature aren't read. Reasoning
 * in both of its fields is read from one.
 */
export function promptText(forwarded: Forwarded): string {
  return promptTexts(forwarded).join('\n')
}

/**
 * Every text that a provider may pass to a model, including those that most leave out: ids of tool calls, both fields
 * of reasoning, and the tool to call. Separate, because each provider joins them in its own way.
 */
export function everyPromptText(forwarded: Forwarded): string[] {
  const texts = promptTexts(forwarded)
  for (const message of forwarded.messages) {
    if (message.role === 'tool') texts.push(message.tool_call_id)
    if (message.role !== 'assistant') continue
    for (const { id } of message.tool_calls ?? []) texts.push(id)
    if (message.reasoning_content && message.reasoning) texts.push(message.reasoning)
  }
  const choice = forwarded['tool_choice']
  if (choice !== undefined) texts.push(JSON.stringify(choice))
  return texts
}

function promptTexts({ messages, tools, response_format: format }: Forwarded): string[] {
  const texts: string[] = []
  for (const message of messages) {
    texts.push(message.role)
    if ('name' in message && message.name) texts.push(message.name)
    texts.push(...textsOf(message.content))
    if (message.role !== 'assistant') continue
    for (const said of [message.refusal, message.reasoning_content || message.reasoning]) if (said) texts.push(said)
    for (const { function: called } of message.tool_calls ?? []) texts.push(called.name, called.arguments)
  }
  for (const described of [tools, format]) if (described !== undefined) texts.push(JSON.stringify(described))
  return texts
}

function textsOf(content: Forwarded['messages'][number]['content']): string[] {
  if (typeof content === 'string') return [content]
  return (content ?? []).flatMap((part) => {
    if (part.type === 'text') return [part.text]
    return part.type === 'refusal' ? [part.refusal] : []
  })
}
