import { expect, test } from 'vitest'
import { readChatRequest } from '@gateway/api/chat-request'
import { cutAnswer } from './chat-with-sandbox.ts'

/** Counts words, each with the spaces before it. */
const count = async (text: string) => text.split(/(?<=\S)\s/).filter(Boolean).length
const cut = (text: string, more: object) =>
  cutAnswer(text, readChatRequest({ model: 'sbx-1', messages: [{ role: 'user', content: 'Hi' }], ...more }), count)

test('an answer ends before the first stop sequence', async () => {
  expect(await cut('one two three', { stop: ['three', 'two'] })).toEqual({ text: 'one ', finish: 'stop' })
  expect(await cut('one two three', { stop: 'four' })).toEqual({ text: 'one two three', finish: 'stop' })
})

test('an answer has at most max_tokens tokens, and then ends with length', async () => {
  expect(await cut('one two three', { max_tokens: 3 })).toEqual({ text: 'one two three', finish: 'stop' })
  expect(await cut('one two three', { max_tokens: 2 })).toMatchObject({ finish: 'length' })
  expect((await cut('one two three', { max_tokens: 2 })).text.trim()).toBe('one two')
  expect(await cut('one two three', { max_tokens: 0 })).toEqual({ text: 'one two three', finish: 'stop' })
  expect((await cut('👩 👩 👩', { max_tokens: 1 })).text.isWellFormed()).toBe(true)
})

test('max_tokens counts what is left after a stop sequence', async () => {
  expect(await cut('one two three', { stop: 'three', max_tokens: 2 })).toEqual({ text: 'one two ', finish: 'stop' })
})
