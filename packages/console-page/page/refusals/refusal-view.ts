/** Selectable periods, in days. */
export const spans = [1, 7, 31] as const
export type Days = (typeof spans)[number]

/** Filters in the URL; one day without filters if omitted. */
export interface RefusalView {
  days?: Days
  code?: string
  key?: string
}

export function refusalView({ days, code, key }: Record<string, unknown>): RefusalView {
  const span = spans.find((each) => each === days)
  return {
    ...(span && { days: span }),
    ...(typeof code === 'string' && { code }),
    ...(typeof key === 'string' && { key }),
  }
}
