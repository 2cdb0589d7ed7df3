import { keyRecord, newKeyBody, type KeyRecord } from '@gateway/api/console/keys'
import { expect, test } from 'vitest'
import { emptyRates } from './rate-fields.tsx'
import { bodyOfDraft, draftFaults, draftOfKey, emptyDraft } from './new-key.ts'

test('bodyOfDraft turns a filled-in form into a valid request body', () => {
  const rates = { ...emptyRates, requestsPerMinute: '60' }
  const draft = { ...emptyDraft, name: 'CI', limit: '2.5', tag: 'nightly', resources: ['acme/swift'], rates }
  expect(newKeyBody.parse(bodyOfDraft('prj_1', draft))).toEqual({
    project: 'prj_1',
    name: 'CI',
    expiresInDays: 90,
    limit: { micro: 2_500_000, reset: 'daily' },
    tag: 'nightly',
    rates: { requestsPerMinute: 60, tokensPerMinute: null, concurrentCalls: null },
    policy: 'listed',
    resources: ['acme/swift'],
  })
  expect(newKeyBody.parse(bodyOfDraft('prj_1', { ...emptyDraft, name: 'all' }))).toMatchObject({
    policy: 'all-eligible',
    limit: null,
    tag: null,
  })
})

test('draftFaults reports an invalid amount or an empty selection at its field', () => {
  expect(draftFaults(emptyDraft)).toEqual({})
  expect(Object.keys(draftFaults({ ...emptyDraft, limit: 'five', resources: [] }))).toEqual(['limit', 'resources'])
  expect(Object.keys(draftFaults({ ...emptyDraft, limit: '0' }))).toEqual(['limit'])
})

test('draftOfKey gives the copy of a key that never expires the longest life', () => {
  const [key] = keyRecord.meta()!.examples as [KeyRecord]
  expect(draftOfKey({ ...key, expiresAt: null }, new Date()).expiresInDays).toBe('365')
})
