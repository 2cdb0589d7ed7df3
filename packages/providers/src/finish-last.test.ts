import type { Delta, FinishReason } from '@gateway/api/chat-answer'
import { chatWire } from '@gateway/api/wires/chat/chat-wire'
import { messageEventShape } from '@gateway/api/wires/messages/messages-shapes'
import { messagesWire } from '@gateway/api/wires/messages/messages-wire'
import { responseEventShape } from '@gateway/api/wires/responses/responses-shapes'
import { responsesWire } from '@gateway/api/wires/responses/responses-wire'
import type { OpenAnswer } from '@gateway/api/wires/wire'
import { expect, test } from 'vitest'
import type { ChatChunk, Usage } from './chat-port.ts'
import { openFinishLast } from './finish-last.ts'

const chunk = (delta: Delta, finish: FinishReason | null = null, usage: Usage | null = null): ChatChunk => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
  usage,
})
const usage = { promptTokens: 3, completionTokens: 2, details: {} }

function passed(chunks: ChatChunk[]): ChatChunk[] {
  const last = openFinishLast()
  return [...chunks.flatMap((each) => last.take(each)), ...last.end()]
}

test.each<[string, ChatChunk[], ChatChunk[]]>([
  ['of an ordinary stream', [chunk({ content: 'a' }), chunk({}, 'stop')], [chunk({ content: 'a' }), chunk({}, 'stop')]],
  [
    'if content comes after it',
    [chunk({ content: 'a' }, 'stop'), chunk({ content: 'b' })],
    [chunk({ content: 'a' }), chunk({ content: 'b' }, 'stop')],
  ],
  [
    'if every chunk has one',
    [chunk({ content: 'a' }, 'stop'), chunk({ content: 'b' }, 'stop'), chunk({ content: 'c' }, 'length')],
    [chunk({ content: 'a' }), chunk({ content: 'b' }), chunk({ content: 'c' }, 'length')],
  ],
  [
    'if an empty chunk has another',
    [chunk({}, 'tool_calls'), chunk({ content: '' }, 'stop')],
    [chunk({}, 'tool_calls')],
  ],
  [
    'with the usage that comes after it',
    [chunk({ content: 'a' }, 'stop'), { choices: [], usage }, chunk({ role: 'assistant', content: '' })],
    [chunk({ content: 'a' }, 'stop', usage)],
  ],
])('passes the finish reason on with the last chunk: %s', (_, chunks, expected) => {
  expect(passed(chunks)).toEqual(expected)
})

const late = [
  chunk({ content: 'Hel' }),
  chunk({ content: 'l' }, 'stop'),
  chunk({ content: 'o' }),
  chunk({ tool_calls: [{ index: 0, id: 'call_a', function: { name: 'look', arguments: '{}' } }] }, 'stop'),
]

/** The data of the events in which a wire writes the chunks. */
function eventsOf(openAnswer: OpenAnswer): Record<string, unknown>[] {
  const answer = openAnswer({ id: 'inv_1', model: 'm', created: 1 })
  const texts = passed(late).map(({ choices }) => answer.chunk(choices))
  const end = answer.end({ usage, chargedMicro: 5 })
  return [...`${texts.join('')}${end}`.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!))
}

test('ends every wire once, with usage, if content comes after the finish reason', () => {
  const messages = [{ role: 'user', content: 'hi' }]
  const chat = eventsOf(chatWire.read({ model: 'm', messages }).openAnswer)
  expect(chat.filter((event) => 'usage' in event)).toEqual([chat.at(-1)])
  expect(chat.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage: { total_tokens: 5, cost_micro: 5 } })

  const written = eventsOf(messagesWire.read({ model: 'm', max_tokens: 5, messages }).openAnswer)
  const types = written.map((event) => messageEventShape.parse(event).type)
  const count = (type: string) => types.filter((each) => each === type).length
  expect([count('content_block_start'), count('content_block_stop')]).toEqual([2, 2])
  expect(types.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop'])

  const responses = eventsOf(responsesWire.read({ model: 'm', input: 'hi' }).openAnswer)
  expect(responseEventShape.parse(responses.at(-1))).toMatchObject({
    response: {
      output: [
        { type: 'message', status: 'completed', content: [{ text: 'Hello' }] },
        { type: 'function_call', status: 'completed', arguments: '{}' },
      ],
    },
  })
})
