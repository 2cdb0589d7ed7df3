import type { Entry, TypedMessage } from './conversation.ts'

/** What would be asked next; where nothing is written, what was asked last, and a greeting before anything was. */
export function nextEntries(entries: Entry[], written: TypedMessage[]): Entry[] {
  if (written.length > 0) return [...entries, ...written]
  if (entries.length === 0) return [{ kind: 'message', id: 'greeting', role: 'user', text: 'Hello!', images: [] }]
  return waitsForTools(entries.at(-1)) ? entries : entries.slice(0, -1)
}

/** Whether the conversation can go on as it is, such as with what tools answered. */
export function waitsForTools(entry: Entry | undefined): boolean {
  return entry?.kind === 'message' || (entry?.columns.some(({ toolCalls }) => toolCalls.length > 0) ?? false)
}
