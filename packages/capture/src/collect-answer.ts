import type { AnswerMessage, Delta } from '@gateway/api/chat-answer'

/** Collects the messages of a model, whole or in parts, for capture. */
export interface AnswerCollector {
  append(choices: readonly { message: AnswerMessage }[] | readonly { delta: Delta }[]): void
  /** The messages, as JSON; null if none came. */
  messages(): string | null
}

interface Collected {
  content: string
  refusal: string
  reasoning: string
  calls: { id?: string; name: string; arguments: string }[]
}

export function openAnswerCollector(): AnswerCollector {
  let collected: Collected | null = null

  function append(part: AnswerMessage | Delta): void {
    collected ??= { content: '', refusal: '', reasoning: '', calls: [] }
    collected.content += part.content ?? ''
    collected.refusal += part.refusal ?? ''
    collected.reasoning += part.reasoning_content ?? part.reasoning ?? ''
    for (const [n, call] of (part.tool_calls ?? []).entries()) {
      const at = 'index' in call ? call.index : n
      const known = (collected.calls[at] ??= { name: '', arguments: '' })
      if (call.id !== undefined) known.id = call.id
      known.name += call.function?.name ?? ''
      known.arguments += call.function?.arguments ?? ''
    }
  }

  return {
    append(choices) {
      for (const choice of choices) append('message' in choice ? choice.message : choice.delta)
    },
    messages: () => collected && JSON.stringify([messageOf(collected)]),
  }
}

function messageOf({ content, refusal, reasoning, calls }: Collected): object {
  return {
    role: 'assistant',
    content,
    ...(refusal !== '' && { refusal }),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
    }),
  }
}
