import { Prisma } from '@gateway/database/client'
import { composeInvocation } from '@gateway/contracts/console/compose-invocation'
import type { InvocationRecord } from '@gateway/contracts/console/money'
import { usageCounts, type UsageCount } from '@gateway/contracts/usage'

/** A call as the books have it: an open reservation, or the newest of the attempts that were closed. */
export interface CallRow extends Pick<InvocationRecord, UsageCount> {
  id: string
  /** Empty: a person runs a sandbox product. */
  key: string
  product: string
  execution: string | null
  node: string | null
  state: InvocationRecord['state']
  estimated: boolean
  prompt_pico: bigint
  completion_pico: bigint
  request_pico: bigint
  cached_pico: bigint | null
  reasoning_pico: bigint | null
  reserved_micro: bigint
  charged_micro: bigint
  admitted_at: Date
  closed_at: Date | null
  /** In whatever words it was written. */
  reason: string | null
  /** Of the product as it is now. */
  unit: string
}

/** The counts of a call that is open, and those of one that is closed; under the names that the record has for them. */
const noCounts = Prisma.raw(usageCounts.map((count) => `NULL::integer AS "${count}"`).join(', '))
const counts = Prisma.raw(usageCounts.map((count) => `a.${columnOf(count)} AS "${count}"`).join(', '))

const whatAndPrice = Prisma.sql`a.prompt_pico, a.completion_pico, a.request_pico, a.cached_pico, a.reasoning_pico`
const unit = Prisma.sql`(SELECT p.unit FROM control.products p WHERE p.id = a.product) AS unit`

/** Of `money.reservations a`. */
export const openColumns = Prisma.sql`
  a.invocation AS id, a.key, a.product, a.execution, a.node, 'Open' AS state, ${noCounts}, false AS estimated, ${whatAndPrice},
  a.micro AS reserved_micro, 0::bigint AS charged_micro, a.admitted_at, NULL::timestamptz AS closed_at, NULL::text AS reason, ${unit}`

/** Of `money.attempts a`. */
export const closedColumns = Prisma.sql`
  a.invocation AS id, a.key, a.product, a.execution, a.node, a.state, ${counts}, a.estimated, ${whatAndPrice},
  a.reserved_micro, a.charged_micro, a.admitted_at, a.closed_at, a.reason, ${unit}`

/**
 * Whether no other attempt has followed an attempt: those that were followed were released, and mean nothing any more. It is asked
 * of each row by itself (`OFFSET 0`), so that no plan reads all later attempts there are.
 */
export const isNewest = Prisma.sql`
  NOT EXISTS (SELECT FROM money.attempts l
               WHERE l.invocation = a.invocation AND l.attempt > a.attempt AND l.attempt > 1 OFFSET 0)
  AND NOT EXISTS (SELECT FROM money.reservations l
                   WHERE l.project = a.project AND l.invocation = a.invocation OFFSET 0)`

/** @param seesExecutions whether the reader may know of private executions (flows §1.2) */
export function invocationRecord(row: CallRow, seesExecutions: boolean): InvocationRecord {
  return composeInvocation({
    ...row,
    invocation: row.id,
    execution: seesExecutions ? row.execution : null,
    node: seesExecutions ? row.node : null,
    promptPico: row.prompt_pico,
    completionPico: row.completion_pico,
    requestPico: row.request_pico,
    cachedPico: row.cached_pico,
    reasoningPico: row.reasoning_pico,
    reservedMicro: row.reserved_micro,
    chargedMicro: row.charged_micro,
    admittedAt: row.admitted_at,
    closedAt: row.closed_at,
  })
}

function columnOf(count: UsageCount): string {
  return count.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
