import { useMutation, useQueryClient } from '@tanstack/react-query'
import { announce } from '../frame/announcer.ts'

/** A change of keys: the lists are read anew after it, and what was done is said. */
export function useKeyChange<Made, Asked = void>(change: (asked: Asked) => Promise<Made>, said: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      announce(said)
      return client.invalidateQueries({ queryKey: ['/api/v2/tenants/{tenant}/keys'] })
    },
  })
}
