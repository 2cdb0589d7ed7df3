import { spans, type Span } from '../calls/call-filters.ts'

/** Which entries of the audit are shown, as the address has it. */
export interface AuditFilters {
  person?: string
  action?: string
  subject?: string
  since?: Span
}

/** Leaves of an address what it may say; whatever else is in it is dropped. */
export function auditFilters({ person, action, subject, since }: Record<string, unknown>): AuditFilters {
  const span = (Object.keys(spans) as Span[]).find((each) => each === since)
  return {
    ...(typeof person === 'string' && { person }),
    ...(typeof action === 'string' && { action }),
    ...(typeof subject === 'string' && { subject }),
    ...(span && { since: span }),
  }
}
