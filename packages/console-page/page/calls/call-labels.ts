import type { InvocationRecord } from '@gateway/api/console/money'
import type { Tone } from '../components/badge.tsx'
import type { CallState, Span } from './call-filters.ts'

/** User-facing labels of call states and reasons. */
export const stateTones: Record<CallState, Tone> = { Open: 'warn', Settled: 'good', Released: 'plain' }
export const stateLabels: Record<CallState, string> = { Open: 'Open', Settled: 'Charged', Released: 'Released' }

export const spanLabels: Record<Span, string> = {
  hour: 'the last hour',
  day: 'the last 24 hours',
  week: 'the last 7 days',
  month: 'the last 30 days',
}

export const reasonLabels: Record<NonNullable<InvocationRecord['reason']>, string> = {
  provider_failed: 'The provider failed. Nothing was charged.',
  rate_limited: 'Rate limit reached. Nothing was charged.',
  instance_ended: 'The process that served the call stopped. Nothing was charged.',
  handed_back: 'Another worker took over before the call started. Nothing was charged.',
  node_failed: 'The node ended without usage. Nothing was charged.',
  execution_over: 'The execution had already ended. Nothing was charged.',
  not_answered: 'Admission timed out. Nothing was charged.',
  not_sent: 'The call waited for a connection to the model and was not sent. Nothing was charged.',
  failed: 'The call failed. Nothing was charged.',
}

/** Formats a duration: 1234 is "1.2 s". */
export function durationText(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`
}
