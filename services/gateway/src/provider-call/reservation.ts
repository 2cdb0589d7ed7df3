import { settlesWithin } from '@gateway/service-kit/async/waiting'
import type { OutcomeOf, SettleItem } from '@gateway/ledger-protocol/ledger-items'
import { idempotencyKeyLimits } from '@gateway/api/limits'
import { recordedUsage } from '@gateway/pricing/usage'
import { ProviderFailure } from '@gateway/providers/provider-failure'
import { openTimingLog, type TimingLog } from '@gateway/providers/timing-log'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import type { CountedUsage } from '@gateway/tokens/counted-usage'
import type { AdmittedCall } from '../admission/admission.ts'
import type { Deps } from '../deps.ts'
import type { Place } from '../rates/rates.ts'

// Closes the reservation of a call. Neither `settle` nor `release` ever rejects.
//   H1  The first of the two closes it. Later calls do nothing.
//   H2  The caller waits at most PATIENCE_MS. Then they get their response and the settlement continues while this
//       process lives; if the process dies first, the call is written off (architecture §M6).
//   H3  Callers waiting for this invocation are notified once it is closed.

export interface Reservation {
  id: string
  invocation: string
  /** Of its admission, for the settlement. */
  receipt: string | undefined
  /** Whether its call has an idempotency key, so that the response is saved. */
  keyed: boolean
  /** Whether closing has started (H1). */
  closed: boolean
  /** Of the call within its rate limits: it ends with the reservation. */
  place: Place
  /** Opened at the admission. Sent with the end of the reservation. */
  timing: TimingLog
}

type Needed = Pick<Deps, 'ledger' | 'notifier' | 'openCalls' | 'metrics' | 'log'>
type Outcome = OutcomeOf<'settle'> | OutcomeOf<'release'>

const PATIENCE_MS = 3_000

export function openReservation(
  {
    reservation: id,
    invocation,
    receipt,
    place,
  }: Pick<AdmittedCall, 'reservation' | 'invocation' | 'receipt' | 'place'>,
  keyed: boolean,
): Reservation {
  return { id, invocation, receipt, keyed, closed: false, place, timing: openTimingLog() }
}

/**
 * Charges the usage and, for a call with an idempotency key, saves the response. Returns the charge in micro-USD, or
 * null if it is not recorded yet.
 * @param cost of the provider
 */
export async function settle(
  deps: Needed,
  reservation: Reservation,
  usage: CountedUsage,
  answer: SettleItem['answer'],
  cost: Pick<SettleItem, 'costPico'>,
): Promise<number | null> {
  const { id, receipt, keyed } = reservation
  const saved = keyed && isSmallEnough(answer) ? answer : null
  reservation.place.settle(usage.promptTokens + usage.completionTokens)
  const outcome = await close(deps, reservation, () =>
    deps.ledger.settle({
      id,
      usage: recordedUsage(usage),
      ...(receipt && { receipt }),
      answer: saved,
      timing: reservation.timing.read(),
      ...cost,
    }),
  )
  return chargedBy(outcome)
}

function chargedBy(outcome: Outcome | null): number | null {
  switch (outcome?.kind) {
    case 'settled':
      return outcome.chargedMicro
    case 'fenced':
    case 'unknown':
    case 'released':
      return 0
    case 'quarantined':
    case undefined:
      return null
  }
}

/** Releases the whole reservation. The call is not charged. */
export async function release(deps: Needed, reservation: Reservation, reason: string): Promise<void> {
  reservation.place.settle(0)
  await close(deps, reservation, () =>
    deps.ledger.release({
      id: reservation.id,
      reason: reason.slice(0, 200) || 'failed',
      timing: reservation.timing.read(),
    }),
  )
}

/** The reason of the release of a call that failed by this error (release-reason.ts). */
export function reasonOf(error: unknown): string {
  if (error instanceof ClientDisconnected || (error instanceof ProviderFailure && error.kind === 'busy'))
    return 'it was not sent'
  return error instanceof Error ? error.message : 'failed'
}

/** Returns null if it is already closed, or the outcome is not known yet. */
async function close(deps: Needed, reservation: Reservation, ask: () => Promise<Outcome>): Promise<Outcome | null> {
  if (reservation.closed) return null // H1
  reservation.closed = true
  const closed = deps.openCalls.track(askUntilClosed(deps, reservation, ask))
  if (await settlesWithin(PATIENCE_MS, closed)) return closed
  deps.metrics.closed('late') // H2
  return null
}

async function askUntilClosed(
  { notifier, metrics, log }: Needed,
  { id, invocation, keyed }: Reservation,
  ask: () => Promise<Outcome>,
): Promise<Outcome | null> {
  const startMs = performance.now()
  let outcome: Outcome | null = null
  try {
    outcome = await ask()
    const { kind } = outcome
    metrics.closed(kind, performance.now() - startMs)
    if (kind === 'fenced' || kind === 'unknown') log.warn({ reservation: id, kind }, 'settlement charged nothing')
    if (kind === 'quarantined') log.error({ reservation: id }, 'end of a call quarantined by the ledger')
  } catch (error) {
    metrics.closed('lost')
    log.error({ err: error, reservation: id }, 'reservation not closed, the ledger will release it')
  }
  if (keyed) notifier.notify(invocation) // H3
  return outcome
}

/** A larger response is charged but not saved; a repeat under its key is refused for that reason. */
function isSmallEnough(answer: SettleItem['answer']): boolean {
  return answer !== null && Buffer.byteLength(answer.body) <= idempotencyKeyLimits.savedAnswerBytes
}
