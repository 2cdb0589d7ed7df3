import { useMutation } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'

/** Ends the session. Nothing that was read stays in this tab. */
export function useSignOut() {
  return useMutation({
    mutationFn: () => ask('DELETE', '/api/v2/session', { params: {} }),
    onSuccess: () => location.assign(import.meta.env.BASE_URL),
  })
}
