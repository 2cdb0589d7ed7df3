import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { refusalGroups } from './refusal-groups.ts'
import type { Days } from './refusal-view.ts'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/refusals'
const EVERY_MS = 5_000
const HOUR_MS = 3_600_000

/** Errors of the last days by code and by key, and the 100 most recent, polled. */
export function useRefusals(days: Days) {
  const params = useScope()
  const [codes, keys] = [useCounts('code', days), useCounts('key', days)]
  const latest = useQuery({ ...reading(`${PATH}/recent`, { params }), refetchInterval: EVERY_MS })
  const rows = latest.data?.data ?? []
  return {
    isPending: codes.isPending || latest.isPending,
    error: codes.error ?? keys.error ?? latest.error,
    total: codes.data?.total,
    codes: codes.data ? refusalGroups(codes.data, rows) : [],
    keys: keys.data ? refusalGroups(keys.data, rows) : [],
    latest: rows,
  }
}

/** Counts over whole hours, so that the query key changes only once an hour. */
function useCounts(by: 'code' | 'key', days: Days) {
  const to = Math.ceil((Date.now() + 1) / HOUR_MS) * HOUR_MS
  const period = { from: new Date(to - days * 24 * HOUR_MS).toISOString(), to: new Date(to).toISOString() }
  return useQuery({
    ...reading(PATH, { params: useScope(), query: { by, ...period } }),
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  })
}
