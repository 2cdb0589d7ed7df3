import type { KeyRecord } from '@gateway/api/console/keys'
import type { Tone } from '../components/values.tsx'
import { useChange } from '../api/queries.ts'
import { NOTICES } from '../notices/notice-link.tsx'

/** Labels for key states, limit periods and admission rules. */
export const stateLabels: Record<KeyRecord['state'], { text: string; tone: Tone }> = {
  Active: { text: 'Active', tone: 'good' },
  Paused: { text: 'Paused', tone: 'warn' },
  Expired: { text: 'Expired', tone: 'plain' },
  Revoked: { text: 'Revoked', tone: 'plain' },
  Rotated: { text: 'Rotated', tone: 'plain' },
  NeedsReissue: { text: 'Needs reissue', tone: 'warn' },
}

export const windowLabels = {
  daily: 'per day',
  weekly: 'per week',
  monthly: 'per month',
  lifetime: 'lifetime',
} as const

export const ruleLabels = {
  key: 'The key is active',
  binding: 'The key is bound to a project',
  issuer: "The key's creator can still issue keys",
  project: "The request's project is the key's project",
  model: 'The model is assigned to the project',
  allowlist: 'The key allows the model',
  request: 'The model supports the request',
  context: "The request fits the model's context window",
  limit: "The cost fits the key's limit",
  budget: 'The cost fits the monthly budgets',
  wallet: 'The cost fits the wallet balance',
} as const

/** Mutation of keys. Reloads keys and alerts on success. */
export function useKeyChange<Made, Asked = void>(change: (asked: Asked) => Promise<Made>, announcement: string) {
  return useChange(change, announcement, [
    '/api/v2/tenants/{tenant}/keys',
    '/api/v2/tenants/{tenant}/keys/{key}',
    NOTICES,
  ])
}
