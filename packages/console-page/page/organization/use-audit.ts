import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { spans } from '../calls/call-filters.ts'
import type { AuditFilters } from './audit-filters.ts'

const PAGE = 50

/** Whose audit log. */
export type AuditOf = { tenant: string } | 'me' | 'platform'

/** Audit log, newest first, page by page. Keeps the current rows while loading. */
export function useAudit(of: AuditOf, filters: AuditFilters) {
  return useInfiniteQuery({
    queryKey: ['audit', of, filters],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...queryOf(filters), limit: PAGE, ...(pageParam && { cursor: pageParam }) }
      if (of === 'me') return ask('GET', '/api/v2/me/audit', { params: {}, query, signal })
      if (of === 'platform') return ask('GET', '/api/v2/audit', { params: {}, query, signal })
      return ask('GET', '/api/v2/tenants/{tenant}/audit', { params: of, query, signal })
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  })
}

/** Address of the same entries as a CSV file. */
export function auditFile(of: AuditOf, filters: AuditFilters): string {
  const path = of === 'me' ? '/me' : of === 'platform' ? '' : `/tenants/${encodeURIComponent(of.tenant)}`
  return `/api/v2${path}/audit?${new URLSearchParams({ ...queryOf(filters), format: 'csv' })}`
}

function queryOf({ since, ...named }: AuditFilters) {
  const from = since && new Date(Date.now() - spans[since]).toISOString()
  return { ...named, ...(from && { from }) }
}
