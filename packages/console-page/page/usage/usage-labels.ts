import type { Grouping, Range } from './usage-view.ts'

export const groupingLabels: Record<Grouping, string> = { model: 'Model', key: 'Key', sandbox: 'Flow' }

/** Labels for calls without a group. */
export const noneLabels: Record<Grouping, string> = {
  model: 'No model',
  key: 'Console users',
  sandbox: 'Direct calls',
}

export const rangeLabels: Record<Range, string> = {
  day: 'Last 24 hours',
  week: 'Last 7 days',
  month: 'Last 30 days',
  quarter: 'Last 91 days',
  year: 'Last 365 days',
}
