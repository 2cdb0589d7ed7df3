import type { InvocationRecord } from '@gateway/api/console/money'

export type CallState = InvocationRecord['state']
export const callStates: readonly CallState[] = ['Open', 'Settled', 'Released']

/** Selectable time ranges, in milliseconds. */
export const spans = { hour: 3_600_000, day: 86_400_000, week: 604_800_000, month: 2_592_000_000 } as const
export type Span = keyof typeof spans

/** Call filters in the URL. */
export interface CallFilters {
  key?: string
  model?: string
  state?: CallState
  execution?: string
  since?: Span
}

/** Keeps the valid search parameters of the URL and drops the rest. */
export function callFilters(search: Record<string, unknown>): CallFilters {
  const { key, model, execution } = search
  const since = (Object.keys(spans) as Span[]).find((each) => each === search['since'])
  const state = callStates.find((each) => each === search['state'])
  return {
    ...(typeof key === 'string' && { key }),
    ...(typeof model === 'string' && { model }),
    ...(state && { state }),
    ...(typeof execution === 'string' && { execution }),
    ...(since && { since }),
  }
}

/** API query for the filters. */
export function callQuery({ since, ...filters }: CallFilters, now: Date) {
  return { ...filters, ...(since && { from: new Date(now.getTime() - spans[since]).toISOString() }) }
}

/** Whether an ID is that of an execution. Any other one is taken for that of a call. */
export function isExecutionId(id: string): boolean {
  return id.startsWith('exe_')
}
