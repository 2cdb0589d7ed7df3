import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { microOf } from '../pure/usd.ts'

export type NewKeyBody = BodyOf<ConsoleRoutes['createKey']>
export type Reset = 'daily' | 'weekly' | 'monthly' | 'lifetime'

/** Form values of a new key. */
export interface KeyDraft {
  name: string
  expiresInDays: string
  limit: string
  reset: Reset
  /** Allowed products; null allows all products of the project. */
  resources: string[] | null
}

export const emptyDraft: KeyDraft = { name: '', expiresInDays: '90', limit: '', reset: 'daily', resources: null }

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
export function bodyOfDraft(project: string, { name, expiresInDays, limit, reset, resources }: KeyDraft): NewKeyBody {
  const micro = microOf(limit)
  return {
    project,
    name,
    expiresInDays: Number(expiresInDays),
    ...(micro && { limit: { micro, reset } }),
    ...(resources && { policy: 'listed', resources }),
  }
}
