import type { KeyRecord } from '@gateway/api/console/keys'
import type { Tone } from '../parts/badge.tsx'

/** States, limits and rules of keys, as people read them. */
export const stateWords: Record<KeyRecord['state'], { text: string; tone: Tone }> = {
  Active: { text: 'Active', tone: 'good' },
  Expired: { text: 'Expired', tone: 'plain' },
  Revoked: { text: 'Revoked', tone: 'plain' },
  Rotated: { text: 'Rotated', tone: 'plain' },
  NeedsReissue: { text: 'Needs reissue', tone: 'warn' },
}

export const windowWords = { daily: 'a day', weekly: 'a week', monthly: 'a month', lifetime: 'in all' } as const

export const ruleWords = {
  key: 'The key works',
  binding: 'It is bound to a project',
  issuer: 'Whoever made it may still issue keys',
  project: 'The project is its own',
  model: 'The project can use the model',
  allowlist: 'The key may call the model',
  request: 'The model takes such a request',
  context: 'It fits into the context of the model',
  limit: "It fits into the key's limit",
  wallet: 'It fits into the wallet',
} as const
