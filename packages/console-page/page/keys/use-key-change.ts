import { useChange } from '../api/use-change.ts'
import { NOTICES } from '../notices/notice-paths.ts'

/** A change of keys: the lists are read anew after it, and what was told of them. */
export function useKeyChange<Made, Asked = void>(change: (asked: Asked) => Promise<Made>, said: string) {
  return useChange(change, said, ['/api/v2/tenants/{tenant}/keys', NOTICES])
}
