import { useQuery } from '@tanstack/react-query'
import type { ExecutionStatus } from '@gateway/api/execution'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { EXECUTIONS } from './use-executions.ts'

const SHOWN = 20
const SOME_MS = 2_000
const NONE_MS = 5_000

/** Newest executions in progress; empty if the user cannot see executions. */
export function useRunningNow() {
  const params = useScope()
  const inState = (state: ExecutionStatus) => ({
    ...reading(EXECUTIONS, { params, query: { state, limit: SHOWN } }),
    refetchInterval: ({
      state: { data, error },
    }: {
      state: { data?: { data: unknown[] } | undefined; error: unknown }
    }) => error === null && (data && data.data.length > 0 ? SOME_MS : NONE_MS),
  })
  const waiting = useQuery(inState('Admitted'))
  const running = useQuery(inState('Running'))
  const rows = [...(waiting.data?.data ?? []), ...(running.data?.data ?? [])]
  // An execution may change state between the two requests and be in both.
  return [...new Map(rows.map((row) => [row.id, row])).values()].toSorted((a, b) =>
    b.createdAt.localeCompare(a.createdAt),
  )
}
