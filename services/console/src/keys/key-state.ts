import type { KeyState } from '@gateway/contracts/console/keys'
import type { Prisma } from '@gateway/database/client'

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

/** The keys of a state, as the database finds them. */
export function inState(state: KeyState, now: Date): Prisma.KeyWhereInput {
  const bound = { revokedAt: null, project: { not: null } }
  switch (state) {
    case 'Revoked':
      return { revokedAt: { not: null } }
    case 'NeedsReissue':
      return { revokedAt: null, project: null }
    case 'Rotated':
      return { ...bound, rotatedTo: { not: null } }
    case 'Expired':
      return { ...bound, rotatedTo: null, expiresAt: { lte: now } }
    case 'Active':
      return { ...bound, rotatedTo: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] }
  }
}

/** Whether revoking would still take something away: also from a rotated key in its grace, and from a legacy one. */
export function canBeRevoked(key: KeyDates, now: Date): boolean {
  const state = keyState(key, now)
  if (state === 'Rotated') return key.graceUntil !== null && key.graceUntil > now
  return state === 'Active' || state === 'NeedsReissue'
}
