import { spans, type Span } from '../calls/call-filters.ts'

/** Filters of an audit log in the URL. */
export interface AuditFilters {
  /** Only in the log of all organizations. */
  tenant?: string
  user?: string
  action?: string
  subject?: string
  address?: string
  outcome?: 'succeeded' | 'refused'
  since?: Span
}

/** Valid filters of a URL; the rest is dropped. */
export function auditFilters({
  tenant,
  user,
  action,
  subject,
  address,
  outcome,
  since,
}: Record<string, unknown>): AuditFilters {
  const span = (Object.keys(spans) as Span[]).find((each) => each === since)
  return {
    ...(typeof tenant === 'string' && { tenant }),
    ...(typeof user === 'string' && { user }),
    ...(typeof action === 'string' && { action }),
    ...(typeof subject === 'string' && { subject }),
    ...(typeof address === 'string' && { address }),
    ...((outcome === 'succeeded' || outcome === 'refused') && { outcome }),
    ...(span && { since: span }),
  }
}
