import type { InvocationRecord } from '@gateway/api/console/money'
import type { Tone } from '../components/values.tsx'
import { count } from '../components/usd.ts'

/** One line of a call's timeline. */
export interface TimelineRow {
  what: string
  /** Exact time or duration, or what is missing. */
  text: string
  tone: Tone
  /** Milliseconds from the admission; null: not on the scale. Equal ends are a moment. */
  span: { fromMs: number; toMs: number } | null
}

export type Outcome = NonNullable<InvocationRecord['tries']>[number]['outcome']

const outcomeTexts: Record<Outcome, string> = {
  answered: 'answered',
  unreachable: 'unreachable',
  refused: 'returned an error',
  timeout: 'timed out',
  cut: 'broke off',
  garbage: 'returned an unreadable response',
  too_large: 'returned too much',
  busy: 'no free connection',
  circuit_open: 'skipped after too many failures',
  stopped: 'stopped by the gateway',
}

/** What happened to a call, from its admission to its charge or release. */
export function timelineOf(call: InvocationRecord): TimelineRow[] {
  const { tries, firstTokenMs, durationMs, state } = call
  const rows: TimelineRow[] = [row('Admitted', '0 ms', moment(0))]
  if (tries === null && state !== 'Open') rows.push(row('Attempts', 'Not recorded', null))
  for (const [n, { provider, startMs, endMs, outcome }] of (tries ?? []).entries())
    rows.push({
      what: `Attempt ${n + 1}${provider === null ? '' : ` at ${provider}`}: ${outcomeTexts[outcome]}`,
      text: `${count(startMs)} – ${count(endMs)} ms`,
      tone: outcome === 'answered' ? 'good' : 'bad',
      span: { fromMs: startMs, toMs: endMs },
    })
  if (firstTokenMs !== null) rows.push(row('First token', `${count(firstTokenMs)} ms`, moment(firstTokenMs)))
  else if (state === 'Settled') rows.push(row('First token', tries === null ? 'Not recorded' : 'Not streamed', null))
  if (durationMs !== null)
    rows.push(row(state === 'Settled' ? 'Charged' : 'Released', `${count(durationMs)} ms`, moment(durationMs)))
  return rows
}

/** Length of the scale in milliseconds: the latest time of a timeline. */
export function scaleOf(rows: readonly TimelineRow[]): number {
  return Math.max(1, ...rows.map(({ span }) => span?.toMs ?? 0))
}

function row(what: string, text: string, span: TimelineRow['span']): TimelineRow {
  return { what, text, tone: 'plain', span }
}

function moment(ms: number): TimelineRow['span'] {
  return { fromMs: ms, toMs: ms }
}
