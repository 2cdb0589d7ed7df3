import type { AdmissionItem, ClosingItem } from '../src/admissions/waiting-items.ts'
import {
  availableIn,
  type Book,
  type Reservation,
  closeInBudgets,
  leftInBudget,
  refuseByBudget,
  notifyFullWindow,
  notifyLowWallet,
} from './book.ts'
import {
  decideAdmission,
  type AdmissionDecision,
  enterAdmission,
  type Admission,
  decideNodeAdmission,
} from './decide-admission.ts'
import { leftInWindow, type Remaining } from './decide-fit.ts'
import { NO_FACTOR, raisedFactor } from '@gateway/pricing/upper-bound'
import { pricedParts, type Usage } from '@gateway/pricing/usage'
import { chargeMicro, costMicro } from '@gateway/pricing/price'

// The whole decision of a batch, without a database. money.run_batch must agree with it, item by item.

/** Decides a batch and applies it to the book: closings first, then admissions in order of arrival. */
export function decideBatch(
  book: Book,
  { admissions, closings }: { admissions: AdmissionItem[]; closings: ClosingItem[] },
  nowMs: number,
): { admissions: AdmissionDecision[]; closings: ClosingDecision[] } {
  return { closings: decideClosings(book, closings, false), admissions: decideAdmissions(book, admissions, nowMs) }
}

/**
 * Decides closings only and applies them: of nodes, as money.close_node_calls does, or of direct calls (B9 of
 * run_batch).
 */
export function decideClosings(book: Book, items: ClosingItem[], ofExecutions: boolean): ClosingDecision[] {
  const decisions = items.map((item) => decideClosing(book, item, ofExecutions))
  decisions.forEach((decision, n) => enterClosing(book, items[n]!.id, decision))
  return decisions
}

/**
 * Writes off responses that arrived under a lost lease, as money.write_off_fenced does. Returns the number of new
 * write-offs.
 */
export function decideLateAnswers(book: Book, answers: LateAnswer[]): number {
  const before = book.writeOffs.size
  for (const answer of answers) {
    const writeOffMicro = decideLateAnswer(book, answer)
    if (writeOffMicro !== null) writeOff(book, answer.reservation, 'fenced', writeOffMicro)
  }
  return book.writeOffs.size - before
}

/** Enters one write-off per reservation and kind: the first one counts. */
function writeOff(book: Book, reservation: string, kind: 'excess' | 'fenced', micro: bigint): void {
  const name = `${reservation} ${kind}`
  if (!book.writeOffs.has(name)) book.writeOffs.set(name, micro)
}

function decideAdmissions(book: Book, items: AdmissionItem[], nowMs: number): AdmissionDecision[] {
  const walletLeft = new Map<string, bigint>()
  const meterLeft = new Map<string, bigint>()
  const ceilingLeft = new Map<string, bigint>()
  const budgetLeft = new Map<string, bigint>()
  const remaining: Remaining = {
    wallet: (project) => walletLeft.get(project) ?? availableIn(book.wallets.get(project)),
    meter: (key, windowStart) => meterLeft.get(key.lineage) ?? leftInWindow(book, key, windowStart),
    budget: (window) => budgetLeft.get(window.id) ?? leftInBudget(book, window),
    ceiling: (execution) => ceilingLeft.get(execution) ?? leftOfCeiling(book, execution),
  }
  const admitted = new Set<string>() // `project idempotencyKey`
  const decisions = items.map((item) => {
    const decision =
      item.op === 'admit'
        ? decideAdmission(book, item, nowMs, remaining)
        : decideNodeAdmission(book, item, nowMs, remaining)
    const named = item.op === 'admit' ? item : null
    const name = named?.idempotency ? `${book.keys.get(named.keyHash)?.project} ${named.idempotency.key}` : null
    // A copy is decided in the next batch, which knows the first call. If the first was refused, the copy takes its
    // place.
    if (name !== null && admitted.has(name) && FRESH.has(decision.code)) return { code: 'copy' }
    if ('overBudget' in decision && decision.overBudget)
      refuseByBudget(book, decision.overBudget.window, decision.overBudget.micro)
    if (!isAdmission(decision)) return decision
    const { project, micro, lineage, windowStartMs } = decision.reservation
    if (windowStartMs !== null) meterLeft.set(lineage, remaining.meter(decision.key!, windowStartMs) - micro)
    for (const window of decision.reservation.budgets) {
      const left = remaining.budget(window)
      if (left !== null) budgetLeft.set(window.id, left - micro)
    }
    walletLeft.set(project, remaining.wallet(project) - micro)
    if (item.op === 'admit-node') {
      const left = remaining.ceiling(item.execution)
      if (left !== null) ceilingLeft.set(item.execution, left - micro)
    }
    if (name !== null) admitted.add(name)
    return decision
  })
  for (const decision of decisions) if (isAdmission(decision)) enterAdmission(book, decision)
  return decisions
}

/** Possible outcomes of an admission that has passed every check except that of funds. */
const FRESH = new Set(['admitted', 'key_limit', 'budget_reached', 'insufficient_budget'])

function isAdmission(decision: AdmissionDecision): decision is Admission {
  return decision.code === 'admitted'
}

/** Returns the ceiling less the charges and open reservations of the execution's nodes. */
function leftOfCeiling(book: Book, execution: string): bigint | null {
  const maxMicro = book.executions.get(execution)?.maxMicro ?? null
  if (maxMicro === null) return null
  const isIts = ({ node }: { node: string | null }) => node !== null && node.startsWith(`${execution} `)
  const reserved = [...book.open.values()].filter(isIts).map(({ micro }) => micro)
  const charged = [...book.closed.values()].filter(isIts).map(({ chargedMicro }) => chargedMicro)
  return [...reserved, ...charged].reduce((left, micro) => left - micro, maxMicro)
}

/** Raises the factor only if the prompt used more than its bound: excess output is another fault (money §2.5). */
function raiseFactor(book: Book, { product, promptTokens }: Reservation, used: bigint): void {
  const before = book.factors.get(product) ?? NO_FACTOR
  const after = promptTokens !== null && used > promptTokens ? raisedFactor(before, used, promptTokens) : before
  if (after > before) book.factors.set(product, after)
}

function enterClosing(book: Book, id: string, decision: ClosingDecision): void {
  if (decision.outcome === 'fenced') writeOff(book, id, 'fenced', decision.writeOffMicro)
  if ('tombstone' in decision)
    book.closed.set(decision.tombstone, {
      invocation: decision.tombstone,
      attempt: 1,
      state: 'Released',
      chargedMicro: 0n,
      price: null,
      node: null,
    })
  if (!('close' in decision)) return
  const { reservation, chargedMicro, excessMicro } = decision.close
  if (excessMicro > 0n) {
    writeOff(book, id, 'excess', excessMicro)
    if (decision.outcome === 'settled') raiseFactor(book, reservation, decision.usedPromptTokens)
  }
  const { invocation, attempt, project, lineage, micro, windowStartMs, price, node, budgets } = reservation
  book.open.delete(id)
  book.closed.set(id, {
    invocation,
    attempt,
    state: decision.outcome === 'settled' ? 'Settled' : 'Released',
    chargedMicro,
    price,
    node,
  })
  if (node !== null && decision.outcome === 'settled') book.chargedNodes.add(node)
  const wallet = book.wallets.get(project)!
  book.wallets.set(project, { ...wallet, reserved: wallet.reserved - micro, settled: wallet.settled + chargedMicro })
  notifyLowWallet(book, project, chargedMicro)
  closeInBudgets(book, budgets, micro, chargedMicro)
  const meter = book.meters.get(lineage)
  if (meter && meter.windowStartMs === windowStartMs) {
    book.meters.set(lineage, { ...meter, reserved: meter.reserved - micro, spent: meter.spent + chargedMicro })
    notifyFullWindow(book, reservation, chargedMicro)
  }
}

interface Close {
  reservation: Reservation
  chargedMicro: bigint
  excessMicro: bigint
}

type ClosingDecision =
  | { outcome: 'settled'; close: Close; usedPromptTokens: bigint }
  | { outcome: 'released'; close: Close }
  | { outcome: 'released'; tombstone: string }
  /** Closed before: the first outcome counts. */
  | { outcome: 'settled' | 'released'; before: bigint }
  /** The reservation had already been released: the call is written off. */
  | { outcome: 'fenced'; writeOffMicro: bigint }
  | { outcome: 'unknown' | 'alive' }

/**
 * Decides a closing (B3, B5 of run_batch). A settlement charges the usage, capped at the reserved amount.
 * @param ofExecutions whether it may close reservations of nodes, or those of direct calls (B9 of run_batch)
 */
function decideClosing(book: Book, item: ClosingItem, ofExecutions: boolean): ClosingDecision {
  const reservation = book.open.get(item.id)
  const closed = book.closed.get(item.id)
  const isTombstone = closed !== undefined && closed.price === null
  const found = reservation ?? closed
  if (found && !isTombstone && (found.node !== null) !== ofExecutions) return { outcome: 'unknown' }
  if (reservation) return closeOpen(book, item, reservation)
  if (!closed)
    return item.op === 'release' && !ofExecutions ? { outcome: 'released', tombstone: item.id } : { outcome: 'unknown' }
  if (closed.state === 'Settled') return { outcome: 'settled', before: closed.chargedMicro }
  if (item.op !== 'settle') return { outcome: 'released', before: 0n }
  return { outcome: 'fenced', writeOffMicro: closed.price ? costOf(item, closed.price) : 0n }
}

function closeOpen(book: Book, item: ClosingItem, reservation: Reservation): ClosingDecision {
  switch (item.op) {
    case 'expire':
      if (book.liveInstances.has(reservation.instance)) return { outcome: 'alive' }
      return { outcome: 'released', close: { reservation, chargedMicro: 0n, excessMicro: 0n } }
    case 'release':
      return { outcome: 'released', close: { reservation, chargedMicro: 0n, excessMicro: 0n } }
    case 'settle': {
      const cost = costOf(item, reservation.price)
      const chargedMicro = chargeMicro(cost, reservation.micro)
      return {
        outcome: 'settled',
        close: { reservation, chargedMicro, excessMicro: cost - chargedMicro },
        usedPromptTokens: BigInt(item.usage.promptTokens),
      }
    }
  }
}

function costOf(item: ClosingItem & { op: 'settle' }, price: Reservation['price']): bigint {
  return costMicro(price, BigInt(item.usage.promptTokens), BigInt(item.usage.completionTokens), pricedParts(item.usage))
}

/** A provider's response to a node's call, under the reservation of an attempt that had lost its lease. */
export interface LateAnswer {
  reservation: string
  execution: string
  usage: Omit<Usage, 'estimated'>
}

/** Returns the write-off in micro-USD; null: the reservation is not an uncharged attempt of this execution. */
function decideLateAnswer(book: Book, { reservation, execution, usage }: LateAnswer): bigint | null {
  const closed = book.closed.get(reservation)
  if (!closed?.price || closed.node === null || closed.state !== 'Released') return null
  if (!closed.node.startsWith(`${execution} `)) return null
  return costMicro(closed.price, BigInt(usage.promptTokens), BigInt(usage.completionTokens), pricedParts(usage))
}
