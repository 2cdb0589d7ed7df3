import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { microOf } from '../pure/usd.ts'

export type NewKeyBody = BodyOf<ConsoleRoutes['createKey']>
export type Reset = 'daily' | 'weekly' | 'monthly' | 'lifetime'

/** What somebody typed for a new key. */
export interface KeyDraft {
  name: string
  expiresInDays: string
  limit: string
  reset: Reset
  /** null: everything that the project can use. */
  resources: string[] | null
}

export const emptyDraft: KeyDraft = { name: '', expiresInDays: '90', limit: '', reset: 'daily', resources: null }

/** What is wrong with a draft, by the field; empty: nothing that can be known here. */
export function draftFaults({ limit, resources }: KeyDraft): { limit?: string; resources?: string } {
  const micro = microOf(limit)
  return {
    ...(limit.trim() !== '' &&
      !micro && { limit: 'Write it as 5 or 0.25, with at most six places, or leave it empty.' }),
    ...(resources?.length === 0 && { resources: 'Choose at least one, or let the key call everything.' }),
  }
}

/** The draft as the API takes it. */
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
