import { readChatRequest } from '@gateway/api/chat-request'
import { expect, test } from 'vitest'
import { everyPromptText, promptText } from './prompt-text.ts'

const forwardedOf = (answer: object) =>
  readChatRequest({
    model: 'm',
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'Hello', ...answer },
    ],
  }).forwarded

test.for([
  [{ reasoning_content: 'a b' }, 'a b'],
  [{ reasoning: 'a b' }, 'a b'],
  [{ reasoning_content: 'a b', reasoning: 'a b' }, 'a b'],
  [{ reasoning_content: '', reasoning: 'a b' }, 'a b'],
  [{ reasoning_content: null, reasoning: 'a b' }, 'a b'],
] as const)('the reasoning of %j is read once', ([answer, text]) => {
  expect(promptText(forwardedOf(answer))).toBe(`user\nhi\nassistant\nHello\n${text}`)
})

test('a bound counts each field of reasoning, because a provider may pass either to the model', () => {
  expect(everyPromptText(forwardedOf({ reasoning_content: 'short', reasoning: 'a longer one' }))).toEqual(
    expect.arrayContaining(['short', 'a longer one']),
  )
})
