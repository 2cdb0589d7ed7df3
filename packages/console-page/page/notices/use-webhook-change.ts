import { useMutation, useQueryClient } from '@tanstack/react-query'
import { announce } from '../frame/announcer.ts'

/** A change of webhooks: their list and what was delivered are read anew after it, and what was done is said. */
export function useWebhookChange<Made>(change: () => Promise<Made>, said: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      announce(said)
      const isAbout = (path: unknown) => typeof path === 'string' && /\/(?:webhooks|notices)$/.test(path)
      return client.invalidateQueries({ predicate: ({ queryKey: [path] }) => isAbout(path) })
    },
  })
}
