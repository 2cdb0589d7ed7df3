import { expect, test } from 'vitest'
import type { RefusalBody } from '@gateway/api/refusal'
import { neededCeiling, resolutionInForm } from './run-outcome.tsx'

const refused = (code: string, details?: Record<string, unknown>) =>
  ({ code, resolution: 'Set maxMicro to 4922 or higher.', ...(details && { details }) }) as RefusalBody

test('names the field of the form and dollars when an execution reached its max cost [ceiling_reached]', () => {
  const error = refused('ceiling_reached', { maxMicro: 1, chargedMicro: 22, reservedMicro: 0, neededMicro: 4_900 })
  expect(neededCeiling(error)).toBe(4_922)
  expect(resolutionInForm(error)).toBe('Set the max cost to $0.004922 or higher, or leave it empty.')
})

test('leaves the resolutions of other errors as the service wrote them', () => {
  expect(neededCeiling(refused('provider_failed'))).toBe(null)
  expect(neededCeiling(refused('ceiling_reached'))).toBe(null)
  expect(resolutionInForm(refused('provider_failed'))).toBe('Set maxMicro to 4922 or higher.')
})
