import { useChange } from '../api/use-change.ts'
import { NOTICES } from '../notices/notice-paths.ts'

/** Mutation of keys. Reloads keys and alerts on success. */
export function useKeyChange<Made, Asked = void>(change: (asked: Asked) => Promise<Made>, announcement: string) {
  return useChange(change, announcement, ['/api/v2/tenants/{tenant}/keys', NOTICES])
}
