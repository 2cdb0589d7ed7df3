import type { InvocationRecord } from '@gateway/api/console/money'

export type CallState = InvocationRecord['state']
export const callStates: readonly CallState[] = ['Open', 'Settled', 'Released']

/** Selectable time ranges, in milliseconds. */
export const spans = { hour: 3_600_000, day: 86_400_000, week: 604_800_000, month: 2_592_000_000 } as const
export type Span = keyof typeof spans
/** Time range of calls. Yesterday is the day before in the user's time zone. */
export type CallSpan = Span | 'yesterday'

/** Call filters in the URL. */
export interface CallFilters {
  key?: string
  model?: string
  state?: CallState
  execution?: string
  since?: CallSpan
  /** Most expensive first; newest first if omitted. */
  order?: 'cost'
}

/** Keeps the valid search parameters of the URL and drops the rest. */
export function callFilters(search: Record<string, unknown>): CallFilters {
  const { key, model, execution } = search
  const since = ([...Object.keys(spans), 'yesterday'] as CallSpan[]).find((each) => each === search['since'])
  const state = callStates.find((each) => each === search['state'])
  return {
    ...(typeof key === 'string' && { key }),
    ...(typeof model === 'string' && { model }),
    ...(state && { state }),
    ...(typeof execution === 'string' && { execution }),
    ...(since && { since }),
    ...(search['order'] === 'cost' && { order: 'cost' as const }),
  }
}

/** API query for the filters. */
export function callQuery({ since, ...filters }: CallFilters, now: Date) {
  const asked = since ?? (filters.order && 'month') // an order needs a period
  const period = asked && periodOf(asked, now)
  return { ...filters, ...(filters.order && { to: now.toISOString() }), ...period }
}

function periodOf(since: CallSpan, now: Date): { from: string; to?: string } {
  if (since !== 'yesterday') return { from: new Date(now.getTime() - spans[since]).toISOString() }
  const day = (daysAgo: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).toISOString()
  return { from: day(1), to: day(0) }
}

/** Whether an ID is that of a key. */
export function isKeyId(id: string): boolean {
  return id.startsWith('key_')
}

/** Whether an ID is that of an execution. Any other one is taken for that of a call or a request. */
export function isExecutionId(id: string): boolean {
  return id.startsWith('exe_')
}
