import type { Grouping, Range } from './usage-view.ts'

export const groupingWords: Record<Grouping, string> = { model: 'Model', key: 'Key', sandbox: 'Flow' }

/** Of calls that no group has. */
export const noneWords: Record<Grouping, string> = {
  model: 'no model',
  key: 'people, in the console',
  sandbox: 'direct calls',
}

export const rangeWords: Record<Range, string> = {
  day: 'The last 24 hours',
  week: 'The last 7 days',
  month: 'The last 30 days',
  quarter: 'The last 91 days',
  year: 'The last 365 days',
}
