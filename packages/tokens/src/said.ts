import type { AnswerMessage, Delta } from '@gateway/providers/chat-port'

/** Gathers what a model says, to be counted where its provider does not. */
export interface Said {
  hear(part: AnswerMessage | Delta): void
  text(): string
}

export function openSaid(): Said {
  let text = ''
  return {
    hear({ content, refusal, reasoning_content, reasoning, tool_calls: calls }) {
      text += (content ?? '') + (refusal ?? '') + (reasoning_content ?? '') + (reasoning ?? '')
      for (const { function: called } of calls ?? []) text += (called?.name ?? '') + (called?.arguments ?? '')
    },
    text: () => text,
  }
}
