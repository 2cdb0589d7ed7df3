import { useMutation, useQueryClient } from '@tanstack/react-query'
import { announce } from '../frame/announcer.ts'
import { readAgain } from './read-again.ts'

/**
 * Mutation that announces its success and reloads the affected queries.
 * @param paths affected API paths; all active queries if omitted, for example after permission changes, which affect
 * most data
 */
export function useChange<Made, Asked = void>(
  change: (asked: Asked) => Promise<Made>,
  said: string,
  paths?: readonly string[],
) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      announce(said)
      if (!paths) return readAgain(client)
      return Promise.all(paths.map((path) => readAgain(client, { queryKey: [path] })))
    },
  })
}
