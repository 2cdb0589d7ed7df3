import { spans, type Span } from '../calls/call-filters.ts'

/** Filters of the audit log in the URL. */
export interface AuditFilters {
  user?: string
  action?: string
  subject?: string
  since?: Span
}

/** Valid filters of a URL; the rest is dropped. */
export function auditFilters({ user, action, subject, since }: Record<string, unknown>): AuditFilters {
  const span = (Object.keys(spans) as Span[]).find((each) => each === since)
  return {
    ...(typeof user === 'string' && { user }),
    ...(typeof action === 'string' && { action }),
    ...(typeof subject === 'string' && { subject }),
    ...(span && { since: span }),
  }
}
