import type { KeyRecord } from '@gateway/api/console/keys'
import type { Tone } from '../components/values.tsx'
import { useChange } from '../api/queries.ts'
import { NOTICES } from '../notices/notice-link.tsx'

/** Labels for key states and limit periods. */
export const stateLabels: Record<KeyRecord['state'], { text: string; tone: Tone }> = {
  Active: { text: 'Active', tone: 'good' },
  Paused: { text: 'Paused', tone: 'warn' },
  Expired: { text: 'Expired', tone: 'plain' },
  Revoked: { text: 'Revoked', tone: 'plain' },
  Rotated: { text: 'Rotated', tone: 'plain' },
  NeedsReissue: { text: 'Needs reissue', tone: 'warn' },
}

/** Whether the old secret of a rotated key still works. */
export function isInGrace({ state, graceUntil }: KeyRecord): boolean {
  return state === 'Rotated' && graceUntil !== null && Date.parse(graceUntil) > Date.now()
}

export const windowLabels = {
  daily: 'per day',
  weekly: 'per week',
  monthly: 'per month',
  lifetime: 'lifetime',
} as const

/** Mutation of keys. Reloads keys and alerts on success. */
export function useKeyChange<Made, Asked = void>(change: (asked: Asked) => Promise<Made>, announcement: string) {
  return useChange(change, announcement, [
    '/api/v2/tenants/{tenant}/keys',
    '/api/v2/tenants/{tenant}/keys/{key}',
    NOTICES,
  ])
}
