import { useChange } from '../api/use-change.ts'

/** A change of keys: the lists are read anew after it. */
export function useKeyChange<Made, Asked = void>(change: (asked: Asked) => Promise<Made>, said: string) {
  return useChange(change, said, ['/api/v2/tenants/{tenant}/keys'])
}
