import type { AnswerMessage, Delta } from '@gateway/providers/chat-port'

/** Gathers the text that a model answers, to be counted where its provider does not. */
export interface TextAccumulator {
  append(part: AnswerMessage | Delta): void
  text(): string
}

export function openTextAccumulator(): TextAccumulator {
  let text = ''
  return {
    append({ content, refusal, reasoning_content, reasoning, tool_calls: calls }) {
      text += (content ?? '') + (refusal ?? '') + (reasoning_content ?? '') + (reasoning ?? '')
      for (const { function: called } of calls ?? []) text += (called?.name ?? '') + (called?.arguments ?? '')
    },
    text: () => text,
  }
}
