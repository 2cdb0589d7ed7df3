import { useMutation, useQueryClient } from '@tanstack/react-query'
import { announce } from '../frame/announcer.ts'

/** A change: what was read of these paths is read anew after it, and what was done is said. */
export function useChange<Made>(change: () => Promise<Made>, paths: readonly string[], said: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      announce(said)
      return Promise.all(paths.map((path) => client.invalidateQueries({ queryKey: [path] })))
    },
  })
}
