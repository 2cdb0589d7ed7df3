import type { CapturedCalls } from '@gateway/ledger-protocol/captured-content'
import { expect, test } from 'vitest'
import { openContentKeys } from './content-keys.ts'
import { openContentRecorder } from './content-recorder.ts'

const keys = openContentKeys({ key: 'k'.repeat(32), previousKey: undefined })
const rules = {
  version: 'v1',
  publicKey: keys.publicKeyOf('prj_1'),
  hide: ['email' as const],
  patterns: ['CUST-[0-9]+'],
}
const request = (content: string) => JSON.stringify({ messages: [{ role: 'user', content }] })

/** @param refuse whether the ledger is unavailable */
function opened(refuse = false) {
  const recorded: CapturedCalls['calls'] = []
  let dropped = 0
  const recorder = openContentRecorder({
    ledger: {
      recordContent: async ({ calls }) => {
        if (refuse) throw new Error('unavailable')
        recorded.push(...calls)
        return {}
      },
    },
    onDropped: (calls) => (dropped += calls),
    onTrouble: () => {},
  })
  return { recorder, recorded, dropped: () => dropped }
}

test('what is recorded is redacted and sealed, and sent before the recorder stops (R3)', async () => {
  const { recorder, recorded, dropped } = opened()
  const invocations = Array.from({ length: 20 }, (_, n) => `inv_${n}`)
  for (const invocation of invocations)
    recorder.record({
      project: 'prj_1',
      invocation,
      rules,
      request: request(`I am ada@example.com, CUST-1 of ${invocation}`),
      answer: JSON.stringify([{ role: 'assistant', content: 'Hello, CUST-1' }]),
      failure: null,
    })
  await recorder.stop()
  expect([recorded.map(({ invocation }) => invocation).toSorted(), dropped()]).toEqual([invocations.toSorted(), 0])
  const { invocation, sealed, version } = recorded[7]!
  expect(version).toBe('v1')
  expect(await keys.open({ project: 'prj_1', invocation }, sealed)).toEqual({
    request: { messages: [{ role: 'user', content: `I am [email], [hidden] of ${invocation}` }] },
    answer: [{ role: 'assistant', content: 'Hello, [hidden]' }],
    failure: null,
    isCut: false,
  })
})

test('what does not fit, cannot be sealed, or is not accepted is dropped and counted (R2)', async () => {
  const call = { project: 'prj_1', invocation: 'inv_1', rules, answer: null, failure: null }
  const { recorder, recorded, dropped } = opened()
  recorder.record({ ...call, request: request('x'.repeat(33 * 1024 * 1024)) })
  expect(dropped()).toBe(1)
  recorder.record({ ...call, request: 'not JSON' })
  await expect.poll(dropped).toBe(2)
  recorder.record({ ...call, request: request('after a failure') })
  await recorder.stop()
  expect(recorded).toHaveLength(1)

  const away = opened(true)
  away.recorder.record({ ...call, request: request('Hello') })
  await away.recorder.stop()
  expect([away.recorded.length, away.dropped()]).toEqual([0, 1])
})
