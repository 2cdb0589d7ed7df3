import { expect, test } from 'vitest'
import { releaseReasonOf } from './release-reason.ts'

test('of a provider that failed nothing but that is reported', () => {
  expect(releaseReasonOf('provider acme-eu: refused: the account is closed')).toBe('provider_failed')
  expect(releaseReasonOf('acme-eu closed the connection')).toBe('failed')
})

test('what we write ourselves has a name each, and a call that was charged has none', () => {
  expect(releaseReasonOf('its instance ended')).toBe('instance_ended')
  expect(releaseReasonOf('toString')).toBe('failed')
  expect(releaseReasonOf(null)).toBeNull()
})
