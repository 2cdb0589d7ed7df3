import type { Forwarded } from '@gateway/api/chat-request'

/**
 * Removes the cache marks of messages, parts and tools, for a provider whose format lacks them or that is not configured
 * for them.
 */
export function withoutCacheControl(forwarded: string): string {
  if (!forwarded.includes('"cache_control"')) return forwarded // a match inside a prompt only costs a needless parse
  const asked = JSON.parse(forwarded) as Forwarded
  const tools = asked['tools'] as object[] | undefined
  const messages = asked.messages.map((message) =>
    unmarked(Array.isArray(message.content) ? { ...message, content: message.content.map(unmarked) } : message),
  )
  return JSON.stringify({ ...asked, messages, ...(tools && { tools: tools.map(unmarked) }) })
}

function unmarked(marked: object): object {
  const { cache_control: _, ...kept } = marked as { cache_control?: unknown }
  return kept
}
