import type { Entry, TypedMessage } from './conversation.ts'

/** Entries of the next request. With an empty draft, the last request again, or a greeting in a new conversation. */
export function nextEntries(entries: Entry[], written: TypedMessage[]): Entry[] {
  if (written.length > 0) return [...entries, ...written]
  if (entries.length === 0) return [{ kind: 'message', id: 'greeting', role: 'user', text: 'Hello!', images: [] }]
  return waitsForTools(entries.at(-1)) ? entries : entries.slice(0, -1)
}

/** Whether the conversation can be sent without a new message, for example with tool results. */
export function waitsForTools(entry: Entry | undefined): boolean {
  return entry?.kind === 'message' || (entry?.columns.some(({ toolCalls }) => toolCalls.length > 0) ?? false)
}
