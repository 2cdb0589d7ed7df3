import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import type { ProjectPlace } from '../api/use-project.ts'
import type { CallFilters } from './call-filters.ts'

const PAGE = 50
const PATH = '/api/v2/tenants/{tenant}/projects/{project}/invocations'

/** The calls of a project, newest first, page by page. Rows stay while others are fetched. */
export function useCalls(params: ProjectPlace, filters: CallFilters) {
  return useInfiniteQuery({
    queryKey: [PATH, params, filters],
    queryFn: ({ pageParam, signal }) =>
      ask('GET', PATH, { params, query: { ...filters, limit: PAGE, ...(pageParam && { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  })
}
