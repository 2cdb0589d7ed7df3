import { z } from 'zod'
import { costOfUsage, type Usage } from '@gateway/pricing/usage'
import type { SettleItem } from './ledger-items.ts'
import type { Admitted, Route } from './ledger-outcomes.ts'

// Latencies are counted in buckets, so that those of many processes and hours add up. The bounds grow by 40 % from 10 ms
// to more than the longest call; a quantile is therefore off by at most 20 %.

const FIRST_BOUND_MS = 10
const GROWTH = 1.4

/** Number of buckets. */
export const LATENCY_BUCKETS = 32

/** Index of the bucket of a latency. */
export function latencyBucket(ms: number): number {
  if (ms <= FIRST_BOUND_MS) return 0
  return Math.min(Math.ceil(Math.log(ms / FIRST_BOUND_MS) / Math.log(GROWTH) - 1e-9), LATENCY_BUCKETS - 1)
}

/**
 * The latency that a share of the counted calls does not exceed, in whole milliseconds; null without calls.
 * @param counts calls of each bucket
 * @param share from 0 to 1
 */
export function latencyQuantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = share * total
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) return within(bucket, left / count)
    left -= count
  }
  return within(LATENCY_BUCKETS - 1, 1)
}

/** Between the bounds of a bucket, whose latencies are assumed to be spread evenly on a logarithmic scale. */
function within(bucket: number, part: number): number {
  if (bucket === 0) return Math.round(FIRST_BOUND_MS * part)
  return Math.round(FIRST_BOUND_MS * GROWTH ** (bucket - 1 + part))
}

// POST /providers: what a gateway or worker saw of its providers since its last report (rules §7.12). It contains nothing
// of a call but its ID, and nothing of a key but where it is from.

/** Maximum size of a report; the sender drops the rest. */
export const providerReportLimits = { providers: 200, counts: 1_000, failures: 100 } as const

const provider = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/)
const model = z.string().min(1).max(256)
const product = z.string().min(1).max(128)
const count = z.int().min(0).max(2_147_483_647)
const agoMs = z.int().min(0)

export const providerReport = z.strictObject({
  /** One incarnation of a process. */
  sender: z.string().min(1).max(64),
  service: z.enum(['gateway', 'worker']),
  /** Rises with each report of a sender: a repeated report changes nothing. */
  number: count.min(1),
  startedAgoMs: agoMs,
  /** The configured providers; empty in the last report of a process. */
  providers: z
    .array(
      z.strictObject({
        provider,
        kind: z.string().max(64),
        credential: z.enum(['configuration', 'environment', 'file', 'aws_chain', 'none']),
        /** When the file of its key was changed; null: the key is from elsewhere. */
        credentialAgoMs: agoMs.nullable(),
        circuit: z.enum(['closed', 'half-open', 'open']),
        circuitAgoMs: agoMs,
      }),
    )
    .max(providerReportLimits.providers),
  counts: z
    .array(
      z.strictObject({
        provider,
        model,
        product,
        answered: count,
        /** Answered, but broken off after the first chunk. */
        cut: count,
        failed: count,
        /** Refused because of the request itself. */
        rejected: count,
        fallbacks: count,
        latency: z.array(count).length(LATENCY_BUCKETS),
      }),
    )
    .max(providerReportLimits.counts),
  /** In order. */
  failures: z
    .array(
      z.strictObject({
        provider,
        model,
        product,
        project: z.string().min(1).max(64),
        invocation: z.string().min(1).max(64),
        kind: z.string().max(64),
        /** HTTP status of the provider. */
        status: z.int().min(100).max(999).nullable(),
        /** The provider's own error code. */
        code: z.string().max(64).nullable(),
        agoMs,
      }),
    )
    .max(providerReportLimits.failures),
  /** How test calls ended that the ledger handed to this process. Absent: none did. */
  tests: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(64),
        latencyMs: count,
        failure: z
          .strictObject({
            kind: z.string().max(64),
            status: z.int().min(100).max(999).nullable(),
            code: z.string().max(64).nullable(),
          })
          .nullable(),
      }),
    )
    .max(10)
    .exactOptional(),
})
export type ProviderReport = z.infer<typeof providerReport>

/** A test call to make: the smallest request to a model of a provider. */
export interface RouteTest {
  id: string
  provider: string
  model: string
  kind: 'chat' | 'embedding'
}

/** `test`: this process makes it, and reports how it ended with its next report. */
export interface ProviderReportAnswer {
  test?: RouteTest
}

/**
 * What the provider that answered a call charges for it, as the settlement reports it: at the rates of its admission, for
 * the recorded usage. Tries at other providers are not part of it.
 */
export function providerCost(
  { routes }: Pick<Admitted, 'routes'>,
  answered: Pick<Route, 'provider' | 'model'>,
  usage: Usage,
): Pick<SettleItem, 'costPico'> {
  const route = routes.find(({ provider, model }) => provider === answered.provider && model === answered.model)
  return route?.cost ? { costPico: costOfUsage(route.cost, usage).toString() } : {}
}
