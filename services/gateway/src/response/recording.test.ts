import { chatLimits, idempotencyKeyLimits } from '@gateway/api/limits'
import { expect, test } from 'vitest'
import { chatAnswer } from '@gateway/api/wires/chat/chat-wire'
import { unpackAnswer } from './response-stream.ts'
import { openRecording } from './respond.ts'

test('a recording contains the sent events in order', async () => {
  const recording = openRecording(true)
  expect(recording.add('a') + recording.add('b')).toBe('ab')
  expect(await recording.answer('text/event-stream')).toEqual({ contentType: 'text/event-stream', body: 'ab' })
})

test('a recording that exceeds its limit or is not needed is null', async () => {
  const recording = openRecording(true, 3)
  for (const events of ['ab', 'cd', 'e']) recording.add(events)
  expect(await recording.answer('x')).toBe(null)
  const unwanted = openRecording(false)
  unwanted.add('a')
  expect(await unwanted.answer('x')).toBe(null)
})

test('a response of the maximum length is recorded and unpacks to the bytes that were sent', async () => {
  const lines = chatAnswer({ id: 'inv_01', model: 'acme/swift', created: 1_795_000_000 }, true)
  const recording = openRecording(true)
  let sent = ''
  for (let token = 0; token < chatLimits.maxTokens.max; token++)
    sent += recording.add(lines.chunk([{ index: 0, delta: { content: ` word${token * 7919}` }, finish_reason: null }]))
  expect(sent.length).toBeGreaterThan(idempotencyKeyLimits.savedAnswerBytes)
  const kept = (await recording.answer('text/event-stream'))!
  expect(kept.body.length).toBeLessThan(idempotencyKeyLimits.savedAnswerBytes)
  expect(kept.contentType.length).toBeLessThanOrEqual(128)
  expect(await unpackAnswer(kept)).toEqual({ contentType: 'text/event-stream', body: sent })
})
