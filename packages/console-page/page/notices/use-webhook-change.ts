import { useChange } from '../api/use-change.ts'
import { NOTICES, WEBHOOKS } from './notice-paths.ts'

/** Mutation of webhooks. Reloads webhooks and deliveries on success. */
export function useWebhookChange<Made>(change: () => Promise<Made>, announcement: string) {
  return useChange(change, announcement, [WEBHOOKS, NOTICES])
}
