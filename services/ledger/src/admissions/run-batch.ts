import type { Database } from '@gateway/database/client'
import type { AdmissionItem, Batch } from './waiting-items.ts'

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
  /** The one moment of the database's clock that the batch was decided at. Unix milliseconds. */
  atMs: number
}

export interface ProductFacts {
  providers: { provider: string; model: string; priority: number }[]
  supported: string[]
}

export type RunBatch = (batch: Batch, patient: boolean) => Promise<BatchRows>

interface BatchRow {
  admissions: string | null
  closings: string | null
  products: string | null
  at_ms: bigint
}

const SQL = `SELECT admissions, closings, products, at_ms FROM money.run_batch_v1(
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)`

/** Not null: the driver takes the type of a list from its first item, and behind a null would store base64 for bytes. */
const NO_BYTES = Buffer.alloc(0)

/** One batch, one round trip: hands the items to money.run_batch_v1 as parallel arrays. */
export function batchRunner({ prisma }: Pick<Database, 'prisma'>): RunBatch {
  return async ({ admissions, closings }, patient) => {
    const a = admissions.map(({ item }) => item)
    const c = closings.map(({ item }) => item)
    const pairs = pairsOf(a)
    const [row] = await prisma.$queryRawUnsafe<BatchRow[]>(
      SQL,
      patient,
      pairs.hashes,
      pairs.models,
      pairs.executions,
      pairs.executionModels,
      a.map((item) => item.id),
      pairs.of,
      a.map((item) => item.instance),
      a.map((item) => (item.op === 'admit' ? item.selector : null)),
      a.map((item) => item.parameters.join(',')),
      a.map((item) => item.promptSize.bytes),
      a.map((item) => item.promptSize.messages),
      a.map((item) => item.promptSize.tools),
      a.map((item) => item.promptSize.images),
      a.map((item) => item.promptSize.counted),
      a.map((item) => item.promptSize.maxTokens),
      a.map((item) => (item.op === 'admit' && item.idempotency?.key) || null),
      a.map((item) => (item.op === 'admit' && item.idempotency?.fingerprint) || null),
      pairs.executions.length > 0 ? a.map((item) => (item.op === 'admit-node' ? item.node : null)) : [],
      pairs.executions.length > 0 ? a.map((item) => (item.op === 'admit-node' ? item.lease : null)) : [],
      c.map((item) => item.id),
      c.map((item) => item.op),
      c.map((item) => (item.op === 'settle' ? item.usage.promptTokens : null)),
      c.map((item) => (item.op === 'settle' ? item.usage.completionTokens : null)),
      c.map((item) => (item.op === 'settle' ? item.usage.estimated : null)),
      c.map((item) => (item.op === 'settle' ? null : item.op === 'release' ? item.reason : 'its instance ended')),
      c.map((item) => (item.op === 'settle' ? (item.answer?.contentType ?? null) : null)),
      c.map((item) => (item.op === 'settle' && item.answer ? Buffer.from(item.answer.body) : NO_BYTES)),
    )
    return {
      admissions: row?.admissions ? admissionRows(JSON.parse(row.admissions) as AdmissionColumns, a, pairs.of) : [],
      closings: row?.closings ? closingRows(JSON.parse(row.closings) as ClosingColumns) : [],
      products: row?.products ? (JSON.parse(row.products) as BatchRows['products']) : {},
      atMs: Number(row?.at_ms),
    }
  }
}

/** What money.admit_v1 answers: a list for each column, in the order of the items. */
interface AdmissionColumns {
  /** null: admitted. */
  code: (string | null)[]
  facts: (Record<string, unknown> | null)[]
  /** Of the first call under its idempotency key; null: its own. */
  invocation: (string | null)[]
  attempt: number[]
  outputCap: number[]
  micro: number[]
  /** By pair: project and key. */
  callers: [project: string, key: string][]
}

interface ClosingColumns {
  outcome: ClosingRow[1][]
  charged: number[]
  excess: number[]
}

/** Which different callers and models there are, and which of these pairs each item is. */
interface Pairs {
  hashes: string[]
  models: string[]
  /** The pairs of runs come behind those of keys. */
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
    const [project, key] = columns.callers[pairOf[n]! - 1]!
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
    ]
  })
}

function closingRows({ outcome, charged, excess }: ClosingColumns): ClosingRow[] {
  return outcome.map((one, n) => [n + 1, one, charged[n]!, excess[n]!])
}
