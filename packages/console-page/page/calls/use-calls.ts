import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import type { ProjectScope } from '../api/use-project.ts'
import { callQuery, type CallFilters } from './call-filters.ts'

const PAGE = 50
const PATH = '/api/v2/tenants/{tenant}/projects/{project}/invocations'

/** Calls of a project, newest first, page by page. Keeps the current rows while loading. */
export function useCalls(params: ProjectScope, filters: CallFilters) {
  return useInfiniteQuery({
    queryKey: [PATH, params, filters],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...callQuery(filters, new Date()), limit: PAGE, ...(pageParam && { cursor: pageParam }) }
      return ask('GET', PATH, { params, query, signal })
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  })
}
