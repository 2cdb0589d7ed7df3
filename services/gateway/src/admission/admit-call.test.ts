import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import type { AdmitOutcome } from '@gateway/ledger-protocol/ledger-outcomes'
import { openIdGenerator } from '@gateway/api/ids'
import { expect, test } from 'vitest'
import type { Deps } from '../deps.ts'
import { admitCall, type AdmissionRequest } from './admit-call.ts'
import type { Caller } from './admission.ts'
import { openAdmissionQueueLimit } from './limits.ts'
import { openRunningCalls } from './running-calls.ts'

const RUNNING: AdmitOutcome = { kind: 'running', invocation: 'inv_1' }
const REPLAY: AdmitOutcome = { kind: 'replay', invocation: 'inv_1', contentType: 'application/json', body: '{}' }

// A poll whose connection is cut may be released, and an ID that was released is never admitted.
test('a call that joins a running one polls the ledger under a new ID each time', async () => {
  const never = new AbortController().signal
  const outcomes = [RUNNING, RUNNING, RUNNING, REPLAY]
  const asked: string[] = []
  const admit = async ({ id }: AdmitItem) => (asked.push(id), outcomes.shift()!)
  const notifier = { subscribe: () => () => {} }
  const deps = {
    ledger: { admit },
    instance: { id: () => 'ins_1' },
    newId: openIdGenerator(Date.now, (bytes) => crypto.getRandomValues(bytes)),
    rates: { take: async () => ({ headers: {}, undo() {}, settle() {} }) },
    admissionQueueLimit: openAdmissionQueueLimit(1),
    runningCalls: openRunningCalls({ notifier, stopping: never, now: () => 0 }, { askEveryMs: 1 }),
  } as unknown as Deps
  const promptSize = { bytes: 100, messages: 1, tools: 0, images: 0 }
  const request = { model: 'acme/swift', maxTokens: 20, conditional: [], promptSize, forwarded: {} }
  const chat = { keyHash: 'ab'.repeat(32), selector: null, tag: null, idempotency: null, request }
  const caller: Caller = { requestId: 'req_1', disconnected: never, permit: { onRelease() {} } }
  expect(await admitCall(deps, chat as unknown as AdmissionRequest, caller)).toEqual(REPLAY)
  expect([asked[0], new Set(asked).size]).toEqual(['inv_1', 4])
})
