import { expect, test } from 'vitest'
import { releaseReasonOf } from './compose-invocation.ts'

test('a provider’s failure is reported without its text or name', () => {
  expect(releaseReasonOf('provider acme-eu: refused: the account is closed')).toBe('provider_failed')
  expect(releaseReasonOf('acme-eu closed the connection')).toBe('failed')
})

test('a reason written by our services has a code, and a charged call has none', () => {
  expect(releaseReasonOf('its instance ended')).toBe('instance_ended')
  expect(releaseReasonOf('it was not sent')).toBe('not_sent')
  expect(releaseReasonOf('toString')).toBe('failed')
  expect(releaseReasonOf(null)).toBeNull()
})
