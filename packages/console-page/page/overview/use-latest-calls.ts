import { useQuery } from '@tanstack/react-query'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'

const SHOWN = 5
const EVERY_MS = 5_000

export function useLatestCalls() {
  const asked = { params: useScope(), query: { limit: SHOWN } }
  return useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/invocations', asked),
    refetchInterval: EVERY_MS,
  })
}
