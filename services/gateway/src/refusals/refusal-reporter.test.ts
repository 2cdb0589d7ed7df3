import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { KEY_SECRET_PREFIX, makeSecret } from '@gateway/api/ids'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { refusalReportLimits, type RefusalReport } from '@gateway/ledger-protocol/ledger-refusal'
import { expect, test } from 'vitest'
import { openRefusalReporter } from './refusal-reporter.ts'

const secretOf = (n: number) =>
  makeSecret(
    KEY_SECRET_PREFIX,
    Uint8Array.from({ length: 32 }, (_, at) => n >> (at * 8)),
  )

/** A response to a request with this secret. */
function answerTo(secret: string | null): ServerResponse {
  const req = new IncomingMessage(new Socket())
  if (secret !== null) req.headers.authorization = `Bearer ${secret}`
  const res = new ServerResponse(req)
  res.setHeader('X-Request-Id', 'req_1')
  return res
}

/** Opens a reporter whose ledger returns an empty result, or is unavailable. */
function open({ away = false } = {}) {
  const recorded: RefusalReport[] = []
  let dropped = 0
  const reporter = openRefusalReporter({
    ledger: {
      reportRefusals: (report) => {
        recorded.push(report)
        return away ? Promise.reject(new LedgerUnavailable({ why: 'unavailable' })) : Promise.resolve({})
      },
    },
    metrics: { refusalsDropped: (count) => void (dropped += count) },
    sender: 'gtw_1',
    now: () => 0,
  })
  return { reporter, recorded, dropped: () => dropped }
}

test('reports the refusals per key and code, and the model that each refused request named', async () => {
  const { reporter, recorded } = open()
  const named = answerTo(secretOf(1))
  reporter.nameModel(named, `acme/${'x'.repeat(200)}`)
  reporter.note(named, 'context_limit')
  reporter.note(answerTo(secretOf(1)), 'context_limit')
  reporter.note(answerTo(secretOf(2)), 'invalid_json')
  await reporter.stop()
  expect(recorded).toMatchObject([
    {
      sender: 'gtw_1',
      number: 1,
      counts: [
        { code: 'context_limit', count: 2 },
        { code: 'invalid_json', count: 1 },
      ],
      latest: [{ model: `acme/${'x'.repeat(123)}`, request: 'req_1' }, { model: null }, { model: null }],
    },
  ])
})

test('records nothing for a request without a well-formed key', async () => {
  const { reporter, recorded } = open()
  for (const secret of [null, 'svc_nonsense']) reporter.note(answerTo(secret), 'key_invalid')
  await reporter.stop()
  expect(recorded).toEqual([])
})

test('drops and counts refusals that do not fit in the report', async () => {
  const { reporter, recorded, dropped } = open()
  const keys = refusalReportLimits.counts + 3
  for (let n = 0; n < keys; n++) reporter.note(answerTo(secretOf(n)), 'key_invalid')
  await reporter.stop()
  expect([recorded[0]!.counts.length, recorded[0]!.latest.length]).toEqual([
    refusalReportLimits.counts,
    refusalReportLimits.latest,
  ])
  expect(dropped()).toBe(3)
})

test('drops a report that the ledger does not accept and counts its refusals', async () => {
  const { reporter, recorded, dropped } = open({ away: true })
  for (const code of ['invalid_json', 'invalid_json', 'key_limit'] as const) reporter.note(answerTo(secretOf(1)), code)
  await reporter.stop()
  await reporter.stop()
  expect([recorded.length, dropped()]).toEqual([1, 3])
})
