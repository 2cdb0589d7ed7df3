import type { InvocationRecord } from '@gateway/contracts/console/money'

export type CallState = InvocationRecord['state']
export const callStates: readonly CallState[] = ['Open', 'Settled', 'Released']

/** Which calls are shown, as the address has it. */
export interface CallFilters {
  key?: string
  model?: string
  state?: CallState
}

/** Leaves of an address what it may say; whatever else is in it is dropped. */
export function callFilters(search: Record<string, unknown>): CallFilters {
  const { key, model } = search
  const state = callStates.find((each) => each === search['state'])
  return {
    ...(typeof key === 'string' && { key }),
    ...(typeof model === 'string' && { model }),
    ...(state && { state }),
  }
}
