import type { Conversation } from './conversation.ts'
import { messagesOf, type ChatBody } from './messages-of.ts'

/** Request body of a column, both for sending and for the code samples. */
export function chatBody(
  conversation: Pick<Conversation, 'system' | 'entries'>,
  { model, column, values }: { model: string; column: number; values: Record<string, unknown> },
): ChatBody {
  return {
    model,
    messages: messagesOf(conversation, column),
    ...values,
    stream: true,
    stream_options: { include_usage: true },
  }
}
