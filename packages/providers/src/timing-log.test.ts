import { expect, test } from 'vitest'
import { callTiming, MAX_TRIES } from '@gateway/api/chat-answer'
import { openTimingLog } from './timing-log.ts'

test('a timing log notes tries and the first token from its opening on', () => {
  let nowMs = 1_000
  const log = openTimingLog(() => nowMs)
  nowMs += 2
  const failed = log.begin('a')
  nowMs += 30
  failed('timeout')
  const answered = log.begin('b')
  nowMs += 100
  log.firstToken()
  nowMs += 50
  log.firstToken()
  answered('answered')
  answered('cut')
  expect(log.read()).toEqual({
    firstTokenMs: 132,
    tries: [
      { provider: 'a', startMs: 2, endMs: 32, outcome: 'timeout' },
      { provider: 'b', startMs: 32, endMs: 182, outcome: 'answered' },
    ],
  })
})

test('a try that has not ended counts as stopped, and only the last tries are kept', () => {
  const log = openTimingLog(() => 0)
  for (let n = 0; n < MAX_TRIES + 3; n++) log.begin(`p${n}`)
  const timing = log.read()
  expect(timing.tries).toHaveLength(MAX_TRIES)
  expect(timing.tries.at(-1)).toEqual({ provider: `p${MAX_TRIES + 2}`, startMs: 0, endMs: 0, outcome: 'stopped' })
  expect(timing.firstTokenMs).toBeNull()
  expect(callTiming.parse(timing)).toEqual(timing)
})
