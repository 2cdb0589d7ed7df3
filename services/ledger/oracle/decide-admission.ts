import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import type { Book, KeyFacts, Reservation } from './book.ts'
import { budgetsOf } from './count-towards-budgets.ts'
import { decideFit, type OverBudget, type Remaining } from './decide-fit.ts'

export type AdmissionDecision =
  | {
      code: 'admitted'
      reservation: Reservation
      key: KeyFacts | null
      idempotencyKey: string | null
      fingerprint: string | null
    }
  | { code: 'again'; reservation: Reservation }
  | { code: 'running' | 'replay'; invocation: string }
  | { code: string; overBudget?: OverBudget }

/** Decides the admission of a direct call, in the order of rules §2.3. A refused call consumes nothing. */
export function decideAdmission(book: Book, item: AdmitItem, nowMs: number, remaining: Remaining): AdmissionDecision {
  const again = book.open.get(item.id)
  if (again) return { code: 'again', reservation: again }
  if (book.closed.has(item.id)) return { code: 'closed' }

  const key = book.keys.get(item.keyHash)
  const refusal = keyRefusal(key, nowMs)
  if (refusal || !key || key.project === null) return { code: refusal ?? 'key_invalid' }
  const { project } = key
  if (key.tag !== null && (item.tag ?? key.tag) !== key.tag) return { code: 'tag_mismatch' }
  if (item.selector !== null && item.selector !== project) return { code: 'project_mismatch' }
  const product = book.callable.get(`${project} ${item.model}`)
  if (!product) return { code: 'model_not_found' }
  if (key.policy === 'listed' && !key.resources.has(item.model)) return { code: 'key_scope' }

  const earlier = item.idempotency && book.idempotency.get(`${project} ${item.idempotency.key}`)
  if (earlier) {
    if (earlier.fingerprint !== item.idempotency?.fingerprint) return { code: 'idempotency_mismatch' }
    if (book.open.has(earlier.reservation)) return { code: 'running', invocation: earlier.invocation }
    if (book.closed.get(earlier.reservation)?.state === 'Settled')
      return { code: 'replay', invocation: earlier.invocation }
  }
  const budgets = budgetsOf(book, key.user, key.tag ?? item.tag ?? null, nowMs)
  const fit = decideFit(book, { item, execution: null, project, key, product, budgets }, nowMs, remaining)
  if (!('micro' in fit)) return fit
  return {
    code: 'admitted',
    key,
    idempotencyKey: item.idempotency?.key ?? null,
    fingerprint: item.idempotency?.fingerprint ?? null,
    reservation: {
      id: item.id,
      invocation: earlier?.invocation ?? item.id,
      attempt: earlier ? (book.closed.get(earlier.reservation)?.attempt ?? 0) + 1 : 1,
      project,
      key: key.id,
      lineage: key.lineage,
      windowStartMs: fit.windowStartMs,
      product: product.id,
      instance: item.instance!, // decideFit never returns a fit without one
      micro: fit.micro,
      outputCap: fit.cap,
      promptTokens: fit.prompt,
      price: product.price,
      node: null,
      budgets,
    },
  }
}

function keyRefusal(key: KeyFacts | undefined, nowMs: number): string | null {
  if (!key) return 'key_invalid'
  if (key.revoked) return 'key_revoked'
  if (key.rotated && (key.rotated.graceUntilMs === null || key.rotated.graceUntilMs <= nowMs)) return 'key_revoked'
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return 'key_expired'
  if (key.paused) return 'key_paused'
  if (key.project === null) return 'key_unbound'
  return key.issuerAuthorized ? null : 'key_issuer_denied'
}
