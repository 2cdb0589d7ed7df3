import { useQuery } from '@tanstack/react-query'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { NOTICES } from './notice-paths.ts'

/** Number of alerts shown, newest first. */
export const SHOWN_NOTICES = 100

/** The latest alerts, and the open ones among them. @param everyMs polling interval while the page is visible */
export function useNotices(everyMs: number) {
  const params = useScope()
  const { data, error } = useQuery({
    ...reading(NOTICES, { params, query: { limit: SHOWN_NOTICES } }),
    refetchInterval: everyMs,
    enabled: params.project !== '',
  })
  const notices = data?.data
  return { notices, hasMore: data ? data.nextCursor !== null : false, open: notices?.filter(({ open }) => open), error }
}
