import { z } from 'zod'
import type { RefusalCode } from '@gateway/api/refusal'
import { refusals } from '@gateway/api/refusals'

// POST /refusals: a gateway's refusals since its last report (rules §7.6). It contains no text of a caller except the
// model that they named.

/** Maximum size of a report; the gateway drops the rest. */
export const refusalReportLimits = { counts: 2_000, latest: 500, modelCharacters: 128 } as const

const keyHash = z.string().regex(/^[0-9a-f]{64}$/)
const code = z.enum(Object.keys(refusals) as [RefusalCode, ...RefusalCode[]])

export const refusalReport = z.strictObject({
  /** One incarnation of a gateway. */
  sender: z.string().min(1).max(64),
  /** Rises with each report of a sender: a repeated report changes nothing. */
  number: z.int().min(1).max(2_147_483_647),
  /** Number of refusals of a key, by code. */
  counts: z
    .array(z.strictObject({ keyHash, code, count: z.int().min(1).max(2_147_483_647) }))
    .max(refusalReportLimits.counts),
  latest: z
    .array(
      z.strictObject({
        keyHash,
        code,
        /** As the caller wrote it; null if the refusal came before it was read. */
        model: z.string().max(refusalReportLimits.modelCharacters).nullable(),
        /** Id of the response, `X-Request-Id`. */
        request: z.string().min(1).max(64),
        /** How long before the report it happened. */
        agoMs: z.int().min(0).max(3_600_000),
      }),
    )
    .max(refusalReportLimits.latest),
})
export type RefusalReport = z.infer<typeof refusalReport>
