import type { ChatChunk } from '../chat-port.ts'

// Most events of a stream differ only in their content. Once the text around it is known, such an event is read without
// parsing the rest, which is half of the cost of a chunk.
//   F1  A frame is known only if another content in its place is read as such, so that it surrounds the content of the
//       delta and no other field.
//   F2  The content is read as JSON reads it: unchanged if it needs no escapes, else as a JSON string. Any other
//       event is not in the frame.

export interface ContentFrame {
  /** Returns the chunk of an event in the frame; null for any other. */
  read(data: string): ChatChunk | null
  /** Learns the frame from an event that was read as this chunk, if it has nothing but content. */
  learn(data: string, chunk: ChatChunk): void
}

/** How often a frame is looked for: events of some streams differ in more than their content. */
const ATTEMPTS = 8

/** @param parse reads an event whole */
export function openContentFrame(parse: (data: string) => ChatChunk | null): ContentFrame {
  let before: string | null = null
  let after = ''
  let attemptsLeft = ATTEMPTS

  return {
    read(data) {
      if (before === null) return null
      const end = data.length - after.length
      // Comparing slices takes half of the time of startsWith and endsWith.
      if (end < before.length || data.slice(0, before.length) !== before || data.slice(end) !== after) return null
      const content = unescaped(data.slice(before.length, end))
      return content === null ? null : { choices: [{ index: 0, delta: { content }, finish_reason: null }], usage: null }
    },
    learn(data, chunk) {
      const content = onlyContentOf(chunk)
      if (content === null || !standsForItself(content) || attemptsLeft === 0) return
      attemptsLeft--
      const found = /"content":\s?"/.exec(data)
      const start = found === null ? -1 : found.index + found[0].length
      if (start < 0 || !data.startsWith(`${content}"`, start)) return
      const [head, tail] = [data.slice(0, start), data.slice(start + content.length)]
      const probe = parse(`${head}${content} ${tail}`)
      if (probe === null || onlyContentOf(probe) !== `${content} `) return // F1
      before = copied(head)
      after = copied(tail)
    },
  }
}

/** Returns null if the chunk has anything else. */
function onlyContentOf({ choices, usage }: ChatChunk): string | null {
  const [choice] = choices
  if (usage !== null || choices.length !== 1 || choice === undefined) return null
  const { delta, finish_reason: reason, logprobs } = choice
  return reason === null && logprobs === undefined && Object.keys(delta).length === 1 ? (delta.content ?? null) : null
}

/** F2 */
function unescaped(text: string): string | null {
  if (standsForItself(text)) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return null
  }
}

/** Whether JSON needs no escapes for this text. A loop takes half of the time of a pattern. */
function standsForItself(text: string): boolean {
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n)
    if (unit === QUOTE || unit === BACKSLASH || unit < SPACE) return false
  }
  return true
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20

/** A text apart from the longer one that it is a part of, which it would keep in memory. */
function copied(part: string): string {
  return Buffer.from(part).toString()
}
