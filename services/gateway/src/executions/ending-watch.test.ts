import { expect, test } from 'vitest'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { untilNextLook } from '@gateway/service-kit/async/waiting'
import { openEndingWatch } from './ending-watch.ts'

function openWatch(ended: string[]) {
  const asked: string[][] = []
  const state = { away: false }
  const endings = openEndingWatch({
    ledger: {
      async endedExecutions({ executions }) {
        asked.push(executions)
        if (state.away) throw new LedgerUnavailable({ why: 'unavailable' })
        return { ended: executions.filter((execution) => ended.includes(execution)) }
      },
    },
  })
  return { endings, asked, state }
}

test('batches concurrent polls into one query and returns each its own result', async () => {
  const { endings, asked } = openWatch(['exe_1', 'exe_3'])
  const looks = ['exe_0', 'exe_1', 'exe_2', 'exe_3', 'exe_1'].map((execution) => endings.hasEnded(execution))
  expect(await Promise.all(looks)).toEqual([false, true, false, true, true])
  expect(asked).toEqual([['exe_0', 'exe_1', 'exe_2', 'exe_3']])
})

test('never sends more executions in a query than the ledger accepts', async () => {
  const { endings, asked } = openWatch([])
  await Promise.all(Array.from({ length: 2_500 }, (_, n) => endings.hasEnded(`exe_${n}`)))
  expect(asked.map(({ length }) => length)).toEqual([1_000, 1_000, 500])
})

test('a failed query fails only the polls it contained', async () => {
  const { endings, state } = openWatch(['exe_1'])
  state.away = true
  const looks = ['exe_0', 'exe_1'].map((execution) => endings.hasEnded(execution))
  for (const { status } of await Promise.allSettled(looks)) expect(status).toBe('rejected')
  state.away = false
  expect(await endings.hasEnded('exe_1')).toBe(true)
})

test('aligns the next poll of all waiters to the same instant, always in the future', () => {
  const moments = [0, 1, 250, 999].map((nowMs) => nowMs + untilNextLook(nowMs, 1_000))
  expect(moments).toEqual([1_000, 1_000, 1_000, 1_000])
  expect(untilNextLook(1_000, 1_000)).toBe(1_000)
})
