import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import type { KeyRecord } from '@gateway/api/console/keys'
import { draftOfRates, emptyRates, type RateDraft, ratesOfDraft } from './rate-fields.tsx'
import { microOf, usd } from '../components/usd.ts'

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

const DAY_MS = 86_400_000
const LONGEST_DAYS = 365
/** Stands for flows that the reader can't use. */
const HIDDEN_FLOW = 'sbx-…'

/** Form values of a key with the permissions of another one, which ends when that one does. */
export function draftOfKey({ name, limit, tag, resources, policy, rates, expiresAt }: KeyRecord, now: Date): KeyDraft {
  const daysLeft = expiresAt === null ? LONGEST_DAYS : Math.floor((Date.parse(expiresAt) - now.getTime()) / DAY_MS)
  return {
    name,
    expiresInDays: String(Math.max(1, daysLeft)),
    limit: limit === null ? '' : usd(limit.micro).replaceAll(/[$,]/g, ''),
    reset: limit?.reset ?? 'daily',
    tag: tag ?? '',
    resources: policy === 'listed' ? resources.filter((id) => id !== HIDDEN_FLOW) : null,
    rates: draftOfRates(rates),
  }
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
