import type { KeyState } from '@gateway/contracts/console/keys'

/** What the state of a key is derived from; it is never stored. */
export interface KeyDates {
  /** null: a legacy key, unbound for ever. */
  project: string | null
  revokedAt: Date | null
  rotatedTo: string | null
  graceUntil: Date | null
  expiresAt: Date | null
}

/** The state that the console shows (rules §6.3). `Rotated` says nothing of whether the grace has ended. */
export function keyState({ project, revokedAt, rotatedTo, expiresAt }: KeyDates, now: Date): KeyState {
  if (revokedAt !== null) return 'Revoked'
  if (project === null) return 'NeedsReissue'
  if (rotatedTo !== null) return 'Rotated'
  if (expiresAt !== null && expiresAt <= now) return 'Expired'
  return 'Active'
}

/** Whether revoking would still take something away: also from a rotated key in its grace, and from a legacy one. */
export function canBeRevoked(key: KeyDates, now: Date): boolean {
  const state = keyState(key, now)
  if (state === 'Rotated') return key.graceUntil !== null && key.graceUntil > now
  return state === 'Active' || state === 'NeedsReissue'
}
