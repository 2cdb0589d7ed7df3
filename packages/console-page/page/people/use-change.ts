import { useMutation, useQueryClient } from '@tanstack/react-query'
import { announce } from '../frame/announcer.ts'

/** A change of who may do what: much hangs on it, so all that is shown is read anew, and what was done is said. */
export function useChange<Made>(change: () => Promise<Made>, said: string) {
  const client = useQueryClient()
  return useMutation<Made, Error, undefined>({
    mutationFn: change,
    onSuccess: () => {
      announce(said)
      return client.invalidateQueries()
    },
  })
}
