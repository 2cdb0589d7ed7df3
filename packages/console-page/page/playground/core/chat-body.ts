import type { Conversation } from './conversation.ts'
import { messagesOf, type ChatBody } from './messages-of.ts'

/** The request of a lane, as it is sent and as it is shown as code. */
export function chatBody(
  conversation: Pick<Conversation, 'system' | 'entries'>,
  { model, lane, values }: { model: string; lane: number; values: Record<string, unknown> },
): ChatBody {
  return {
    model,
    messages: messagesOf(conversation, lane),
    ...values,
    stream: true,
    stream_options: { include_usage: true },
  }
}
