import { useQuery } from '@tanstack/react-query'
import type { ExecutionStatus } from '@gateway/api/execution'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { EXECUTIONS } from './use-executions.ts'

const SHOWN = 20
const SOME_MS = 2_000
const NONE_MS = 5_000

/** The newest executions in progress; none for anyone who may see none. */
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
  // Between the two readings one may have gone on from the one state to the other.
  return [...new Map(rows.map((row) => [row.id, row])).values()].toSorted((a, b) =>
    b.createdAt.localeCompare(a.createdAt),
  )
}
