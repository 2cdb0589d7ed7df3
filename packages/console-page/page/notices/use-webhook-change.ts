import { useChange } from '../api/use-change.ts'
import { DELIVERIES, NOTICES, WEBHOOK, WEBHOOKS } from './notice-paths.ts'

/** Mutation of webhooks. Reloads webhooks and deliveries on success. */
export function useWebhookChange<Made, Asked = void>(change: (asked: Asked) => Promise<Made>, announcement: string) {
  return useChange(change, announcement, [WEBHOOKS, WEBHOOK, DELIVERIES, NOTICES])
}
