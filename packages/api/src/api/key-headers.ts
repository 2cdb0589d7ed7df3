import { idempotencyKeyLimits } from '../limits.ts'
import type { HeaderField } from './api-route.ts'

/** A consistency check only (rules §2.7). */
export const selector: Record<string, HeaderField> = {
  'X-Service-Project': {
    description: 'May only repeat the project that the key is bound to. X-Project-ID is an alias.',
  },
  'X-Service-Tag': {
    description: 'What the call is for, as usage and budgets count it. A key with a tag accepts no other one.',
  },
}

const { min, max } = idempotencyKeyLimits
export const idempotencyPattern = `^[\\x21-\\x7e]{${min},${max}}$`
