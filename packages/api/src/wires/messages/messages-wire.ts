import type { ChatWire } from '../wire.ts'
import { errorBodyOf, messagesAnswer } from './messages-answer.ts'
import { attachmentDataOf, readCountedMessages, readMessages } from './read-messages.ts'

/** POST /v1/messages: the Messages wire of Anthropic (docs/messages.md). */
export const messagesWire: ChatWire = {
  name: 'messages',
  dataForm: 'base64',
  dataOf: attachmentDataOf,
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  read: (value, cut) => ({ request: readMessages(value, cut), openAnswer: messagesAnswer }),
  errorBody: errorBodyOf,
}

/** The same for POST /v1/messages/count_tokens, which has no answer of a model. */
export const countTokensWire: ChatWire = {
  ...messagesWire,
  read: (value, cut) => ({ request: readCountedMessages(value, cut), openAnswer: messagesAnswer }),
}
