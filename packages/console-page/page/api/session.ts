import { useQuery } from '@tanstack/react-query'
import type { MeRecord } from '@gateway/api/console/sign-in'
import { reading } from './reading.ts'

export const readingMe = reading('/api/v2/me', { params: {} })
export const readingSignInMethods = reading('/api/v2/session', { params: {} })

/** The signed-in user. For components that render only when signed in. */
export function useMe(): MeRecord {
  const { data } = useQuery(readingMe)
  if (!data) throw new Error('No one is signed in.')
  return data
}

/** Base URL for model calls. */
export function useBaseUrl(): string {
  return useQuery(readingSignInMethods).data?.baseUrl ?? location.origin
}
