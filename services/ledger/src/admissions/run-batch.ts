import { callFunction } from '@gateway/database/call-function'
import type { Sql } from '@gateway/database/client'
import type { ProductProviders, ProductPricing } from '@gateway/api/console/products'
import type { PriceSnapshot } from '@gateway/pricing/usage'
import { type AdmissionItem, type Batch, callerOf, type ClosingItem, type Waiting } from './waiting-items.ts'
import {
  isLedgerRefusalCode,
  type LedgerFacts,
  type LedgerRefusal,
  type LedgerRefusalCode,
} from '@gateway/ledger-protocol/ledger-refusal'
import type {
  AdmitNodeOutcome,
  AdmitOutcome,
  Admitted,
  ReleaseOutcome,
  SettleOutcome,
  Route,
} from '@gateway/ledger-protocol/ledger-outcomes'
import { isoSeconds, type Reset, resetsAt } from '@gateway/pricing/spending-window'
import { picoFromUsd } from '@gateway/pricing/price'
import type { CallTiming } from '@gateway/api/chat-answer'

/** Decision on one admission. `again`: it was already admitted under this very id. */
export type AdmissionRow = { code: 'admitted' | 'again'; facts: AdmittedFacts } | RefusedRow

export interface AdmittedFacts {
  /** First call under its idempotency key, or the call itself. */
  invocation: string
  attempt: number
  project: string
  key: string
  product: string
  outputCap: number
  micro: number
  price: PriceSnapshot
}

interface RefusedRow {
  code: string
  facts: Record<string, unknown>
}

export interface ClosingRow {
  outcome: 'settled' | 'released' | 'fenced' | 'unknown' | 'deferred' | 'alive'
  chargedMicro: number
  excessMicro: number
}

/** Each list in the order of the batch. */
export interface BatchRows {
  admissions: AdmissionRow[]
  closings: ClosingRow[]
  products: Record<string, ProductFacts>
  /** Answers of this batch that could not be saved. */
  answersLost: number
  /** Time by the database's clock at which the whole batch was decided. Unix milliseconds. */
  atMs: number
}

export interface ProductFacts {
  providers: ProductProviders
  supported: string[]
  /** null for products that produce text. */
  maxOutputBytes?: number | null
}

/** Decides a batch in one round trip. Items are sent unchanged, as rows of money.admission and money.closing. */
export async function runBatch(sql: Sql, batch: Batch, waitForLocks: boolean): Promise<BatchRows> {
  const admitting = batch.admissions.map(({ item }) => item)
  const closing = batch.closings.map(({ item }) => item)
  const toClose = closing.map(closingRow)
  const { callers, pairOf } = pairsOf(admitting)
  const toAdmit = admitting.map((item, n) => ({ kind: 'chat', ...item, pair: pairOf[n] }))
  const row = isOfOne(batch, waitForLocks)
    ? await callFunction(sql, 'money.run_one', {
        caller: callers[0] ?? {},
        to_admit: toAdmit[0] ?? {},
        to_close: toClose[0] ?? {},
      })
    : await callFunction(sql, 'money.run_batch', {
        wait_for_locks: waitForLocks,
        callers,
        to_admit: toAdmit,
        to_close: toClose,
        answers: closing.flatMap((item) => (item.op === 'settle' && item.answer ? Buffer.from(item.answer.body) : [])),
      })
  const closed = row.closings ? (JSON.parse(row.closings) as ClosingColumns) : null
  return {
    admissions: row.admissions ? admissionRows(JSON.parse(row.admissions) as AdmissionColumns, admitting, pairOf) : [],
    closings: closed ? closingRows(closed) : [],
    products: row.products ? (JSON.parse(row.products) as BatchRows['products']) : {},
    answersLost: closed?.answersLost ?? 0,
    atMs: Number(row.at_ms),
  }
}

/** Whether money.run_one decides this batch: at most one admission and one closing, of direct calls. */
function isOfOne({ admissions, closings }: Batch, waitForLocks: boolean): boolean {
  if (waitForLocks || admissions.length > 1 || closings.length > 1) return false
  if (admissions.length + closings.length === 0) return false
  const closing = closings[0]?.item
  return admissions[0]?.item.op !== 'admit-node' && (closing?.op !== 'settle' || closing.answer === null)
}

/** Saved answers are sent separately, as bytes. */
function closingRow(item: ClosingItem): object {
  if (item.op === 'expire') return { ...item, reason: 'its instance ended' }
  const { timing, ...rest } = item
  const row = { ...rest, ...timingColumns(timing) }
  return row.op === 'settle' ? { ...row, answer: row.answer && { contentType: row.answer.contentType } } : row
}

/** Returns the distinct pairs of caller, with its tag, and model, those of executions last, and the pair of each item, from 1. */
function pairsOf(items: readonly AdmissionItem[]): { callers: object[]; pairOf: number[] } {
  const names = items.map(pairName)
  const pairs = new Map<string, number>()
  const callers: object[] = []
  for (const op of ['admit', 'admit-node'])
    for (const [n, item] of items.entries())
      if (item.op === op && !pairs.has(names[n]!)) pairs.set(names[n]!, callers.push(callerAndModel(item)))
  return { callers, pairOf: names.map((name) => pairs.get(name)!) }
}

function callerAndModel(item: AdmissionItem): object {
  const { model } = item
  return item.op === 'admit' ? { keyHash: item.keyHash, model, tag: item.tag } : { execution: item.execution, model }
}

/** Neither a hash, an id nor a tag has a space. */
function pairName(item: AdmissionItem): string {
  return `${callerOf(item)} ${(item.op === 'admit' && item.tag) || ''} ${item.model}`
}

/** Result of money.admit: one list per column, in the order of the items. */
export interface AdmissionColumns {
  /** null: admitted. */
  code: (string | null)[]
  facts: (Record<string, unknown> | null)[]
  /** Of the first call under its idempotency key; null: its own. */
  invocation: (string | null)[]
  attempt: number[]
  outputCap: number[]
  micro: number[]
  /** By pair: project, key and price. */
  callers: [project: string, key: string, price: PriceSnapshot][]
}

function admissionRows(columns: AdmissionColumns, items: AdmissionItem[], pairOf: number[]): AdmissionRow[] {
  return items.map(({ id, model }, n) => {
    const code = columns.code[n]!
    if (code !== null) return { code, facts: columns.facts[n] ?? {} }
    const [project, key, price] = columns.callers[pairOf[n]! - 1]!
    const facts = {
      invocation: columns.invocation[n] ?? id,
      attempt: columns.attempt[n]!,
      project,
      key,
      product: model,
      outputCap: columns.outputCap[n]!,
      micro: columns.micro[n]!,
      price,
    }
    return { code: 'admitted', facts }
  })
}

interface ClosingColumns {
  outcome: ClosingRow['outcome'][]
  charged: number[]
  excess: number[]
  answersLost?: number
}

function closingRows({ outcome, charged, excess }: ClosingColumns): ClosingRow[] {
  return outcome.map((each, n) => ({ outcome: each, chargedMicro: charged[n]!, excessMicro: excess[n]! }))
}

/** A decision that still needs its saved answer. */
export interface Decided {
  waiting: Waiting<AdmissionItem>
  row: AdmissionRow
}

/** Converts a row of the batch into the caller's outcome. A `replay` still lacks its answer. */
export function admitOutcome(
  row: AdmissionRow,
  { model, op }: Pick<AdmissionItem, 'model' | 'op'>,
  products: BatchRows['products'],
): AdmitOutcome | AdmitNodeOutcome {
  if (isAdmitted(row)) return admitted(row.facts, op, products)
  const { code, facts } = row
  switch (code) {
    case 'running':
      return { kind: 'running', invocation: facts['invocation'] as string }
    case 'replay':
      return { kind: 'replay', invocation: facts['invocation'] as string, contentType: '', body: '' }
    case 'would_admit':
      return { kind: 'would-admit' }
    case 'instance_unknown':
      return { kind: 'instance-unknown' }
    case 'fenced':
      return { kind: 'fenced' }
    case 'closed': // a tombstone, or its reservation has ended: this id will never be admitted again
      return { kind: 'refused', code: 'unavailable', facts: {} }
    default:
      return { kind: 'refused', ...refusalOf(code, facts, model) }
  }
}

/** Facts of refusals that SQL leaves out, because the item has them or because JSON writes them differently. */
const missing: {
  [C in LedgerRefusalCode]?: (model: string, facts: Record<string, unknown>) => Partial<LedgerFacts<C>>
} = {
  key_expired: (_, { expiredAt }) => ({ expiredAt: isoSeconds(new Date(expiredAt as string)) }),
  key_issuer_denied: () => ({ use: true }),
  not_permitted: () => ({ need: 'the permission to invoke in this project' }),
  model_not_found: (model) => ({ model }),
  key_scope: (model) => ({ resource: model }),
  product_not_assigned: (model) => ({ product: model }),
  budget_reached: (_, { windowStart }) => ({ resetsAt: resetsAt('monthly', windowStart as string)! }),
  key_limit: (_, { reset, windowStart }) => ({ resetsAt: resetsAt(reset as Reset, windowStart as string) }),
}

/** @throws Error for a code that has no case here and none in packages/ledger-protocol/src/ledger-refusal.ts */
function refusalOf(code: string, facts: Record<string, unknown>, model: string): LedgerRefusal {
  if (!isLedgerRefusalCode(code)) throw new Error(`money.run_batch returned ${code}, which is not a refusal`)
  return { code, facts: { ...facts, ...missing[code]?.(model, facts) } } as LedgerRefusal
}

/** Project of the key or execution, if the row names it. */
export function projectIn(row: AdmissionRow): string | null {
  const { project } = row.facts as { project?: unknown }
  return typeof project === 'string' ? project : null
}

export function closingOutcome({
  outcome,
  chargedMicro,
}: ClosingRow): SettleOutcome | ReleaseOutcome | { kind: 'alive' } {
  switch (outcome) {
    case 'settled':
      return { kind: 'settled', chargedMicro }
    case 'released':
    case 'fenced':
    case 'unknown':
    case 'alive':
      return { kind: outcome }
    case 'deferred':
      throw new Error('a deferred closing has no outcome yet')
  }
}

function admitted(
  { micro, price, ...facts }: AdmittedFacts,
  op: AdmissionItem['op'],
  products: BatchRows['products'],
): Admitted {
  const { providers = [], supported = [], maxOutputBytes = null } = products[facts.product] ?? {}
  const routes = providers
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ provider, model, cost }) => ({ provider, model, ...routeCost(cost) }))
  return {
    kind: 'admitted',
    ...facts,
    reservedMicro: micro,
    ...(op === 'admit' && { price }),
    routes,
    supportedParameters: supported,
    ...(maxOutputBytes !== null && { maxOutputBytes }),
  }
}

function isAdmitted(row: AdmissionRow): row is Extract<AdmissionRow, { facts: AdmittedFacts }> {
  return row.code === 'admitted' || row.code === 'again'
}

/**
 * What a provider charges, as stored with the product, for the route of a call. Text that is not a price leaves it
 * unknown: it must not stop a call.
 */
export function routeCost(cost: ProductPricing | undefined): Pick<Route, 'cost'> {
  if (cost === undefined) return {}
  const parts =
    cost.unit === 'request'
      ? ['0', '0', cost.request, undefined, undefined, undefined]
      : [cost.prompt, cost.completion, '0', cost.cachedPrompt, cost.reasoning, cost.cacheWrite]
  const pico = parts.map((usd) => (usd === undefined ? null : picoFromUsd(usd)?.toString()))
  return pico.includes(undefined) ? {} : { cost: pico as PriceSnapshot }
}

/** Columns of money.closing for the times of a call. */
export function timingColumns(timing: CallTiming | undefined): { firstTokenMs?: number | null; tries?: string } {
  return timing === undefined ? {} : { firstTokenMs: timing.firstTokenMs, tries: JSON.stringify(timing.tries) }
}
