import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import {
  type Book,
  type KeyFacts,
  type Reservation,
  budgetsOf,
  reserveInBudgets,
  type NodeFacts,
  type ExecutionFacts,
} from './book.ts'
import { decideFit, type OverBudget, type Remaining } from './decide-fit.ts'
import type { AdmitNodeItem } from '@gateway/ledger-protocol/flow-items'

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

export type Admission = Extract<AdmissionDecision, { code: 'admitted' }>

export function enterAdmission(book: Book, { reservation, idempotencyKey, fingerprint }: Admission): void {
  const { project, lineage, micro, windowStartMs } = reservation
  book.open.set(reservation.id, reservation)
  const wallet = book.wallets.get(project) ?? { funded: 0n, reserved: 0n, settled: 0n }
  book.wallets.set(project, { ...wallet, reserved: wallet.reserved + micro })
  if (windowStartMs !== null) {
    const meter = book.meters.get(lineage)
    const before = meter?.windowStartMs === windowStartMs ? meter : { spent: 0n, reserved: 0n }
    book.meters.set(lineage, { windowStartMs, spent: before.spent, reserved: before.reserved + micro })
  }
  reserveInBudgets(book, reservation.budgets, micro)
  if (idempotencyKey !== null && fingerprint !== null) {
    const name = `${project} ${idempotencyKey}`
    book.idempotency.set(name, { fingerprint, invocation: reservation.invocation, reservation: reservation.id })
  }
}

/**
 * Decides the admission of a node's call (B9 of run_batch): like a direct call, except for the caller and for the lease
 * it needs.
 */
export function decideNodeAdmission(
  book: Book,
  item: AdmitNodeItem,
  nowMs: number,
  remaining: Remaining,
): AdmissionDecision {
  const again = book.open.get(item.id)
  if (again) return { code: 'again', reservation: again }

  const name = `${item.execution} ${item.node}`
  const execution = book.executions.get(item.execution)
  const node = book.nodes.get(name)
  if (!execution?.goesOn || !node || !mayCall(node, item) || book.chargedNodes.has(name)) return { code: 'fenced' }
  if (book.closed.has(item.id)) return { code: 'closed' }

  const key = execution.keyHash === null ? null : book.keys.get(execution.keyHash)!
  const refusal = key ? lineageRefusal(book, key) : userRefusal(execution)
  if (refusal) return { code: refusal }
  const { project } = execution
  const product = book.callableByExecutions.get(`${project} ${item.model}`)
  if (!product) return { code: 'product_not_assigned' }
  if (key?.policy === 'listed' && !key.resources.has(item.model)) return { code: 'key_scope' }

  const budgets = budgetsOf(book, key ? key.user : execution.user, key?.tag ?? null, nowMs)
  const fit = decideFit(book, { item, execution: item.execution, project, key, product, budgets }, nowMs, remaining)
  if (!('micro' in fit)) return fit
  return {
    code: 'admitted',
    key,
    idempotencyKey: null,
    fingerprint: null,
    reservation: {
      id: item.id,
      invocation: node.call,
      attempt: node.attempt,
      project,
      key: key?.id ?? '',
      lineage: key?.lineage ?? '',
      windowStartMs: fit.windowStartMs,
      product: product.id,
      instance: item.instance,
      micro: fit.micro,
      outputCap: fit.cap,
      promptTokens: fit.prompt,
      price: product.price,
      node: name,
      budgets,
    },
  }
}

function mayCall(node: NodeFacts, item: AdmitNodeItem): boolean {
  return node.lease === item.lease && (node.reservation === null || node.reservation === item.id)
}

/**
 * Rotation and expiry do not stop an execution. Revoking its key, or revoking or pausing the newest key of the lineage,
 * does (money §7.2).
 */
function lineageRefusal(book: Book, key: KeyFacts): string | null {
  const newest = [...book.keys.values()].filter(({ lineage, rotated }) => lineage === key.lineage && !rotated)
  if (key.revoked || newest.some(({ revoked }) => revoked)) return 'key_revoked'
  if (newest.some(({ paused }) => paused)) return 'key_paused'
  return key.issuerAuthorized ? null : 'key_issuer_denied'
}

function userRefusal({ userAuthorized }: ExecutionFacts): string | null {
  return userAuthorized ? null : 'not_permitted'
}
