import { expect, test } from 'vitest'
import { canBeRevoked, type KeyDates, keyState } from './key-record.ts'

const now = new Date('2026-11-20T12:00:00Z')
const past = new Date(now.getTime() - 1)
const later = new Date(now.getTime() + 1)
const key: KeyDates = {
  project: 'prj_1',
  revokedAt: null,
  pausedAt: null,
  rotatedTo: null,
  graceUntil: null,
  expiresAt: later,
}
const legacy = { ...key, project: null, expiresAt: null }

test.for([
  [key, 'Active', true],
  [{ ...key, expiresAt: now }, 'Expired', true],
  [{ ...key, pausedAt: past }, 'Paused', true],
  [{ ...key, pausedAt: past, expiresAt: now }, 'Expired', true],
  [{ ...key, pausedAt: past, revokedAt: past }, 'Revoked', false],
  [{ ...key, revokedAt: past }, 'Revoked', false],
  [{ ...key, revokedAt: past, expiresAt: past, rotatedTo: 'key_2' }, 'Revoked', false],
  [{ ...key, rotatedTo: 'key_2' }, 'Rotated', false],
  [{ ...key, rotatedTo: 'key_2', graceUntil: later }, 'Rotated', true],
  [{ ...key, rotatedTo: 'key_2', graceUntil: now }, 'Rotated', true],
  [{ ...key, rotatedTo: 'key_2', graceUntil: later, expiresAt: past }, 'Rotated', true],
  [legacy, 'NeedsReissue', true],
  [{ ...legacy, revokedAt: past }, 'Revoked', false],
] as const)('a key with %j is %s', ([dates, state, revocable]) => {
  expect(keyState(dates, now)).toBe(state)
  expect(canBeRevoked(dates)).toBe(revocable)
})
