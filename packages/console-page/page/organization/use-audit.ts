import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { spans } from '../calls/call-filters.ts'
import type { AuditFilters } from './audit-filters.ts'

const PAGE = 50
const PATH = '/api/v2/tenants/{tenant}/audit'

/** Audit log, newest first, page by page. Keeps the current rows while loading. */
export function useAudit(tenant: string, { since, ...named }: AuditFilters) {
  return useInfiniteQuery({
    queryKey: [PATH, tenant, named, since],
    queryFn: ({ pageParam, signal }) => {
      const from = since && new Date(Date.now() - spans[since]).toISOString()
      const query = { ...named, limit: PAGE, ...(from && { from }), ...(pageParam && { cursor: pageParam }) }
      return ask('GET', PATH, { params: { tenant }, query, signal })
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  })
}
