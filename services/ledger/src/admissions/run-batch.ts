import { callFunction } from '@gateway/database/call-function'
import type { Sql } from '@gateway/database/client'
import type { PriceSnapshot } from '@gateway/contracts/price-snapshot'
import type { AdmissionItem, Batch, ClosingItem } from './waiting-items.ts'

/** `[ord, code, …]`, in the order of the batch. `ord` counts from 1. */
export type AdmissionRow =
  | [
      ord: number,
      code: 'admitted',
      invocation: string,
      attempt: number,
      project: string,
      key: string,
      product: string,
      outputCap: number,
      micro: number,
      price: PriceSnapshot,
    ]
  | [ord: number, code: string, facts: Record<string, unknown>]

/** In the order of the batch. */
export type ClosingRow = [
  ord: number,
  outcome: 'settled' | 'released' | 'fenced' | 'unknown' | 'deferred' | 'alive',
  chargedMicro: number,
  excessMicro: number,
]

export interface BatchRows {
  admissions: AdmissionRow[]
  closings: ClosingRow[]
  products: Record<string, ProductFacts>
  /** Answers of this batch that could not be saved. */
  answersLost: number
  /** The one moment of the database's clock that the batch was decided at. Unix milliseconds. */
  atMs: number
}

export interface ProductFacts {
  providers: { provider: string; model: string; priority: number }[]
  supported: string[]
  /** null: it makes text. */
  maxOutputBytes?: number | null
}

/**
 * Not null: the driver takes the type of a list from its first item, and behind a null would store base64 for bytes.
 */
const NO_BYTES = Buffer.alloc(0)

/** One batch, one round trip: hands the items to money.run_batch as parallel arrays. */
export async function runBatch(sql: Sql, { admissions, closings }: Batch, patient: boolean): Promise<BatchRows> {
  const a = admissions.map(({ item }) => item)
  const c = closings.map(({ item }) => item)
  const pairs = pairsOf(a)
  const row = await callFunction(sql, 'money.run_batch', {
    wait_for_locks: patient,
    p_hash: pairs.hashes,
    p_model: pairs.models,
    e_execution: pairs.executions,
    e_model: pairs.executionModels,
    a_id: a.map((item) => item.id),
    a_pair: pairs.of,
    a_instance: a.map((item) => item.instance),
    a_selector: a.map((item) => (item.op === 'admit' ? item.selector : null)),
    a_parameters: a.map((item) => item.parameters.join(',')),
    a_bytes: a.map((item) => item.promptSize.bytes),
    a_messages: a.map((item) => item.promptSize.messages),
    a_tools: a.map((item) => item.promptSize.tools),
    a_images: a.map((item) => item.promptSize.images),
    a_counted: a.map((item) => item.promptSize.counted),
    a_max_tokens: a.map((item) => item.promptSize.maxTokens),
    a_key: a.map((item) => (item.op === 'admit' && item.idempotency?.key) || null),
    a_fingerprint: a.map((item) => (item.op === 'admit' && item.idempotency?.fingerprint) || null),
    a_node: pairs.executions.length > 0 ? a.map((item) => (item.op === 'admit-node' ? item.node : null)) : [],
    a_lease: pairs.executions.length > 0 ? a.map((item) => (item.op === 'admit-node' ? item.lease : null)) : [],
    c_id: c.map((item) => item.id),
    c_kind: c.map((item) => item.op),
    c_usage: JSON.stringify(c.map((item) => (item.op === 'settle' ? item.usage : {}))),
    c_reason: c.map(reasonOf),
    c_content_type: c.map((item) => (item.op === 'settle' ? (item.answer?.contentType ?? null) : null)),
    c_body: c.map((item) => (item.op === 'settle' && item.answer ? Buffer.from(item.answer.body) : NO_BYTES)),
  })
  const closed = row.closings ? (JSON.parse(row.closings) as ClosingColumns) : null
  return {
    admissions: row.admissions ? admissionRows(JSON.parse(row.admissions) as AdmissionColumns, a, pairs.of) : [],
    closings: closed ? closingRows(closed) : [],
    products: row.products ? (JSON.parse(row.products) as BatchRows['products']) : {},
    answersLost: closed?.answersLost ?? 0,
    atMs: Number(row.at_ms),
  }
}

function reasonOf(item: ClosingItem): string | null {
  if (item.op === 'settle') return null
  return item.op === 'release' ? item.reason : 'its instance ended'
}

/** What money.admit answers: a list for each column, in the order of the items. */
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

interface ClosingColumns {
  outcome: ClosingRow[1][]
  charged: number[]
  excess: number[]
  answersLost?: number
}

/** Which different callers and models there are, and which of these pairs each item is. */
interface Pairs {
  hashes: string[]
  models: string[]
  /** The pairs of executions come behind those of keys. */
  executions: string[]
  executionModels: string[]
  /** By item; counted from 1, as Postgres does. */
  of: number[]
}

function pairsOf(items: AdmissionItem[]): Pairs {
  const ofKeys = distinctPairs()
  const ofExecutions = distinctPairs()
  const of = items.map((item) =>
    item.op === 'admit' ? ofKeys.add(item.keyHash, item.model) : -ofExecutions.add(item.execution, item.model),
  )
  const keys = ofKeys.callers.length
  if (ofExecutions.callers.length > 0) for (let n = 0; n < of.length; n++) if (of[n]! < 0) of[n] = keys - of[n]!
  return {
    hashes: ofKeys.callers,
    models: ofKeys.models,
    executions: ofExecutions.callers,
    executionModels: ofExecutions.models,
    of,
  }
}

function distinctPairs() {
  const callers: string[] = []
  const models: string[] = []
  const known = new Map<string, number>()
  return {
    callers,
    models,
    /** Answers which pair it is; counted from 1. */
    add(caller: string, model: string): number {
      const name = `${caller} ${model}` // neither a hash nor an id has a space
      let pair = known.get(name)
      if (pair === undefined) {
        pair = callers.push(caller)
        models.push(model)
        known.set(name, pair)
      }
      return pair
    },
  }
}

function admissionRows(columns: AdmissionColumns, items: AdmissionItem[], pairOf: number[]): AdmissionRow[] {
  return items.map(({ id, model }, n) => {
    const code = columns.code[n]!
    if (code !== null) return [n + 1, code, columns.facts[n] ?? {}]
    const [project, key, price] = columns.callers[pairOf[n]! - 1]!
    const invocation = columns.invocation[n] ?? id
    return [
      n + 1,
      'admitted',
      invocation,
      columns.attempt[n]!,
      project,
      key,
      model,
      columns.outputCap[n]!,
      columns.micro[n]!,
      price,
    ]
  })
}

function closingRows({ outcome, charged, excess }: ClosingColumns): ClosingRow[] {
  return outcome.map((one, n) => [n + 1, one, charged[n]!, excess[n]!])
}
