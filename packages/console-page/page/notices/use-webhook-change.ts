import { useChange } from '../api/use-change.ts'

const PROJECT = '/api/v2/tenants/{tenant}/projects/{project}'

/** A change of webhooks: their list and what was delivered are read anew after it. */
export function useWebhookChange<Made>(change: () => Promise<Made>, said: string) {
  return useChange(change, said, [`${PROJECT}/webhooks`, `${PROJECT}/notices`])
}
