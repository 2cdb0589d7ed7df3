import { useMutation } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { endPlaygrounds } from '../playground/data/kept.ts'
import { unloadPage } from '../components/unload-page.ts'

/** Revokes playground keys, ends the session and loads the page again, so that no data stays in this tab. */
export function useSignOut(load = () => location.assign(import.meta.env.BASE_URL)) {
  return useMutation({
    mutationFn: () => endPlaygrounds(() => ask('DELETE', '/api/v2/session', { params: {} })),
    onSuccess: () => unloadPage(load),
  })
}
