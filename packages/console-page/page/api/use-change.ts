import { useMutation, useQueryClient } from '@tanstack/react-query'
import { announce } from '../frame/announcer.ts'
import { readAgain } from './read-again.ts'

/**
 * A change of what the service keeps. What was read is read again after it, and what was done is said.
 * @param paths what the change is seen in; left out, as of who may do what, on which much hangs: all that is shown
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
