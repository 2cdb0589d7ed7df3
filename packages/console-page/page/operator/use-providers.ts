import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { reading } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import type { ProvidersView } from './operator-views.ts'

const EVERY_MS = 5_000

/** What providers answered, read again while the screen is open. */
export function useProviders({ range = 'hour' }: ProvidersView) {
  return useQuery({
    ...reading('/api/v2/providers', { params: {}, query: { range } }),
    enabled: useMe().platformOperator,
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS, // pauses while the tab is hidden
  })
}
