import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { emptyRates, type RateDraft, ratesOfDraft } from './rate-fields.tsx'
import { microOf } from '../components/usd.ts'

export type NewKeyBody = BodyOf<ConsoleRoutes['createKey']>
export type Reset = 'daily' | 'weekly' | 'monthly' | 'lifetime'

/** Form values of a new key. */
export interface KeyDraft {
  name: string
  expiresInDays: string
  limit: string
  reset: Reset
  tag: string
  /** Allowed products; null allows all products of the project. */
  resources: string[] | null
  rates: RateDraft
}

export const emptyDraft: KeyDraft = {
  name: '',
  expiresInDays: '90',
  limit: '',
  reset: 'daily',
  tag: '',
  resources: null,
  rates: emptyRates,
}

/** Errors by field that can be detected in the browser. */
export function draftFaults({ limit, resources }: KeyDraft): { limit?: string; resources?: string } {
  const micro = microOf(limit)
  return {
    ...(limit.trim() !== '' &&
      !micro && { limit: 'Enter an amount such as 5 or 0.25 (up to six decimal places), or leave empty.' }),
    ...(resources?.length === 0 && { resources: 'Select at least one, or allow all products.' }),
  }
}

/** Request body for a draft. */
export function bodyOfDraft(project: string, draft: KeyDraft): NewKeyBody {
  const { name, expiresInDays, limit, reset, tag, resources, rates } = draft
  const micro = microOf(limit)
  return {
    project,
    name,
    expiresInDays: Number(expiresInDays),
    ...(micro && { limit: { micro, reset } }),
    ...(tag !== '' && { tag }),
    rates: ratesOfDraft(rates),
    ...(resources && { policy: 'listed', resources }),
  }
}
