import { useChange } from '../api/use-change.ts'
import { NOTICES, WEBHOOKS } from './notice-paths.ts'

/** A change of webhooks: their list and what was delivered are read anew after it. */
export function useWebhookChange<Made>(change: () => Promise<Made>, said: string) {
  return useChange(change, said, [WEBHOOKS, NOTICES])
}
