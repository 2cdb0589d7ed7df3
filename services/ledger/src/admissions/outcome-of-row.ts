import {
  isLedgerRefusalCode,
  type LedgerFacts,
  type LedgerRefusal,
  type LedgerRefusalCode,
} from '@gateway/contracts/ledger-refusal'
import type {
  Admitted,
  AdmitNodeOutcome,
  AdmitOutcome,
  ReleaseOutcome,
  SettleOutcome,
} from '@gateway/contracts/ledger-outcomes'
import { isoSeconds, resetsAt, type Reset } from '@gateway/money/spending-window'
import type { AdmissionRow, AdmittedFacts, BatchRows, ClosingRow } from './run-batch.ts'
import type { AdmissionItem, Waiting } from './waiting-items.ts'

/** A decision that still needs its saved answer. */
export interface Decided {
  waiting: Waiting<AdmissionItem>
  row: AdmissionRow
}

/** What a row of the batch means to the caller. A `replay` still lacks its answer. */
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

/** What SQL does not say of a refusal, because the item says it, or because it is written otherwise in JSON. */
const missing: {
  [C in LedgerRefusalCode]?: (model: string, facts: Record<string, unknown>) => Partial<LedgerFacts<C>>
} = {
  key_expired: (_, { expiredAt }) => ({ expiredAt: isoSeconds(new Date(expiredAt as string)) }),
  key_issuer_denied: () => ({ use: true }),
  not_permitted: () => ({ need: 'the permission to invoke in this project' }),
  model_not_found: (model) => ({ model }),
  key_scope: (model) => ({ resource: model }),
  product_not_assigned: (model) => ({ product: model }),
  key_limit: (_, { reset, windowStart }) => ({ resetsAt: resetsAt(reset as Reset, windowStart as string) }),
}

/** @throws Error for a code that has no case here and none in packages/contracts/src/ledger-refusal.ts */
function refusalOf(code: string, facts: Record<string, unknown>, model: string): LedgerRefusal {
  if (!isLedgerRefusalCode(code)) throw new Error(`money.run_batch answered ${code}, which is no refusal`)
  return { code, facts: { ...facts, ...missing[code]?.(model, facts) } } as LedgerRefusal
}

/** The project of the key or execution, where the row names it. */
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
    .map(({ provider, model }) => ({ provider, model }))
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
