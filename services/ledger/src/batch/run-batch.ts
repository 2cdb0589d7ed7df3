import type { Database } from '@gateway/database/client'
import type { Batch } from './waiting-items.ts'

/** `[ord, code, …]`, as money.admit_v1 answers it. */
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

/** As money.close_v1 answers it. */
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
  origins: { origin: string; model: string; priority: number }[]
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
  $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`

/** One batch, one round trip: hands the items to money.run_batch_v1 as parallel arrays. */
export function batchRunner({ prisma }: Pick<Database, 'prisma'>): RunBatch {
  return async ({ admissions, closings }, patient) => {
    const a = admissions.map(({ item }) => item)
    const c = closings.map(({ item }) => item)
    const [row] = await prisma.$queryRawUnsafe<BatchRow[]>(
      SQL,
      patient,
      a.map((item) => item.id),
      a.map((item) => item.holder),
      a.map((item) => item.keyHash),
      a.map((item) => item.selector),
      a.map((item) => item.model),
      a.map((item) => item.parameters.join(',')),
      a.map((item) => item.measures.bytes),
      a.map((item) => item.measures.messages),
      a.map((item) => item.measures.tools),
      a.map((item) => item.measures.images),
      a.map((item) => item.measures.counted),
      a.map((item) => item.measures.maxTokens),
      a.map((item) => item.idempotency?.key ?? null),
      a.map((item) => item.idempotency?.fingerprint ?? null),
      c.map((item) => item.id),
      c.map((item) => item.op),
      c.map((item) => (item.op === 'settle' ? item.usage.promptTokens : null)),
      c.map((item) => (item.op === 'settle' ? item.usage.completionTokens : null)),
      c.map((item) => (item.op === 'settle' ? item.usage.estimated : null)),
      c.map((item) => (item.op === 'settle' ? null : item.op === 'release' ? item.reason : 'its holder ended')),
      c.map((item) => (item.op === 'settle' ? (item.answer?.contentType ?? null) : null)),
      c.map((item) => (item.op === 'settle' && item.answer ? Buffer.from(item.answer.body) : null)),
    )
    return {
      admissions: parse<AdmissionRow[]>(row?.admissions, []),
      closings: parse<ClosingRow[]>(row?.closings, []),
      products: parse<Record<string, ProductFacts>>(row?.products, {}),
      atMs: Number(row?.at_ms),
    }
  }
}

function parse<T>(text: string | null | undefined, none: T): T {
  return text ? (JSON.parse(text) as T) : none
}
