import { useRef, useState } from 'react'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import type { ProjectScope } from '../api/session.ts'
import { executionQuery, type ExecutionFilters } from './execution-filters.ts'
import { isInProgress } from './execution-columns.tsx'

const PAGE = 50
export const EXECUTIONS = '/api/v2/tenants/{tenant}/projects/{project}/executions'
const IN_PROGRESS_MS = 2_000
const NOTHING_YET_MS = 5_000

/** Time range of the list. It ends at the newest execution of the first load, so later ones are left out. */
interface Shown {
  of: string
  from?: string
  to: string
}

/**
 * Executions of a project, newest first, page by page. Polled while some are in progress; rows keep their places, and
 * executions that started later appear after `refresh`. An empty list is polled for the first execution.
 */
export function useExecutions(params: ProjectScope, filters: ExecutionFilters) {
  const of = JSON.stringify([params, filters])
  const shown = useRef<Shown | null>(null)
  const list = useInfiniteQuery({
    queryKey: [EXECUTIONS, params, filters],
    queryFn: async ({ pageParam, signal }) => {
      const asked = executionQuery(filters, new Date())
      const { from, to }: Partial<Shown> = shown.current?.of === of ? shown.current : asked
      const time = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
      const query = { ...asked, ...time, limit: PAGE, ...(pageParam && { cursor: pageParam }) }
      const page = await ask('GET', EXECUTIONS, { params, query, signal })
      const [newest] = page.data
      if (to === undefined && newest) shown.current = { of, ...time, to: justAfter(newest.createdAt) }
      // Without rows there are no places to keep, and the list shows the next execution that starts.
      if (!newest && pageParam === '') shown.current = null
      return page
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => {
      if (!data) return false
      const rows = data.pages.flatMap((page) => page.data)
      return rows.some(isInProgress) ? IN_PROGRESS_MS : rows.length === 0 && NOTHING_YET_MS
    },
  })
  const [isRefreshing, setRefreshing] = useState(false)
  const refresh = async () => {
    shown.current = null
    setRefreshing(true)
    await list.refetch()
    setRefreshing(false)
  }
  return { ...list, rows: list.data?.pages.flatMap(({ data }) => data) ?? [], refresh, isRefreshing }
}

function justAfter(iso: string): string {
  return new Date(Date.parse(iso) + 1).toISOString()
}
