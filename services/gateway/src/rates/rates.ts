import type { RateLimits } from '@gateway/api/rates'
import { Refusal } from '@gateway/api/refusal'
import type { IdentifiedKey } from '@gateway/ledger-protocol/ledger-reads'
import { z } from 'zod'
import type { KeyGate } from '../admission/key-gate.ts'
import type { RateStore } from './rate-store.ts'
import { type Meter, type Pool, shareOf, type Taking } from './rate-windows.ts'

// Rate limits of keys and projects (rules §2.8): those of the key, those of its project, and those of the operator.
//   R1  Only admitted calls and executions count. A call takes its place before the ledger is asked, so that no two pass
//       together, and returns it if it is refused or replayed.
//   R2  The tokens of a call are estimated until it is settled: those of its prompt if the caller sent tokens, otherwise
//       a quarter of its bytes, and its max_tokens. A call without max_tokens counts for its prompt alone, as at most
//       providers: its output cap is far above what it uses.
//   R3  Headers and refusals name what is granted: without Redis, the share of this gateway.

const rate = z.strictObject({
  requests: z.int().min(1).max(1_000_000).describe('calls at most'),
  seconds: z.int().min(1).max(3_600).describe('in this many seconds, counted from the first'),
})
const exceptions = z.record(z.string(), rate.nullable())

/** The `RATES` variable: limits of the operator, in addition to those of keys and projects. */
export const ratesConfig = z.strictObject({
  key: rate.optional().describe('of each key'),
  project: rate.optional().describe('of each project, all of its keys together'),
  keys: exceptions
    .optional()
    .describe('of single keys, by id; the id of a first key covers its replacements; null: none'),
  projects: exceptions.optional().describe('of single projects, by id; null: none'),
})
export type RatesConfig = z.output<typeof ratesConfig>

type Scope = 'key' | 'project'
type Counted = 'requests' | 'tokens'
type LimitOf<Of> = Of & { scope: Scope }

/** A place within all limits, or within none if there are no limits. */
export interface Place {
  /** `x-ratelimit-*` of the response. */
  headers: Record<string, string>
  /** The call was not admitted. */
  undo(): void
  /** The call has ended with this many tokens. The first of `undo` and `settle` counts. */
  settle(tokens: number): void
}

export interface Rates {
  /**
   * @param call its size for the limit of tokens; null for an execution, whose calls are not limited
   * @throws LedgerUnavailable
   */
  take(keyHash: string, id: string, call: CallSize | null): Promise<Place | Exceeded>
}

interface CallSize {
  bytes: number
  /** Tokens of the prompt, if the caller sent tokens. */
  tokens?: number | null
  maxTokens: number
}

export interface Exceeded {
  exceeded: { scope: Scope; limit: Counted | 'concurrent'; max: number; seconds: number }
  /** null: a repeat can't pass either, because the call needs more tokens than the whole limit. */
  retryAfterMs: number | null
  /** Tokens that the call needs; null for another limit. */
  tokens: number | null
  headers: Record<string, string>
}

interface Options {
  config: RatesConfig
  keyGate: Pick<KeyGate, 'identify'>
  store: Pick<RateStore, 'take' | 'giveBack'>
}

const MINUTE_MS = 60_000
const BYTES_PER_TOKEN = 4
const NOWHERE: Place = { headers: {}, undo() {}, settle() {} }

export function openRates({ config, keyGate, store }: Options): Rates {
  return {
    async take(keyHash, id, call) {
      const key = await keyGate.identify(keyHash, 'rates')
      const tokens = call === null ? null : (call.tokens ?? Math.ceil(call.bytes / BYTES_PER_TOKEN)) + call.maxTokens // R2
      const meters = metersOf(config, key, tokens)
      const pools = call === null ? [] : poolsOf(key)
      if (meters.length === 0 && pools.length === 0) return NOWHERE
      const taking = await store.take({ group: key.project, meters, pools, id })
      const headers = headersOf(meters, taking)
      if (taking.exceeded !== null) return { ...exceededOf([...meters, ...pools], taking), headers }
      let open = true
      const close = (costOf: (meter: LimitOf<Meter & { counted: Counted }>) => number) => {
        if (!open) return
        open = false
        const given = meters.map((meter, n) => ({
          name: meter.name,
          startMs: taking.windows[n]!.startMs,
          cost: costOf(meter),
        }))
        const changed = given.filter(({ cost }) => cost !== 0)
        if (changed.length > 0 || pools.length > 0)
          store.giveBack({ group: key.project, meters: changed, pools: pools.map(({ name }) => name), id })
      }
      return {
        headers,
        undo: () => close(({ cost }) => cost),
        settle: (used) => close(({ counted, cost }) => (counted === 'tokens' ? cost - used : 0)),
      }
    },
  }
}

type NamedMeter = LimitOf<Meter & { counted: Counted }>

function metersOf(
  config: RatesConfig,
  { key, lineage, project, rates }: IdentifiedKey,
  tokens: number | null,
): NamedMeter[] {
  const operator = (scope: Scope, subject: string, exceptionsById: z.output<typeof exceptions> = {}) => {
    const { [subject]: limit = config[scope] } = exceptionsById
    if (!limit) return []
    const name = `${subject}:operator`
    return [{ scope, counted: 'requests' as const, name, max: limit.requests, windowMs: limit.seconds * 1000, cost: 1 }]
  }
  return [
    ...minuteMeters('key', lineage, rates.key, tokens),
    ...operator('key', config.keys?.[key] === undefined ? lineage : key, config.keys),
    ...minuteMeters('project', project, rates.project, tokens),
    ...operator('project', project, config.projects),
  ]
}

function minuteMeters(scope: Scope, subject: string, limits: RateLimits, tokens: number | null): NamedMeter[] {
  const meter = (counted: Counted, max: number | null, cost: number): NamedMeter[] =>
    max === null ? [] : [{ scope, counted, name: `${subject}:${counted}`, max, windowMs: MINUTE_MS, cost }]
  return [
    ...meter('requests', limits.requestsPerMinute, 1),
    ...(tokens === null ? [] : meter('tokens', limits.tokensPerMinute, tokens)),
  ]
}

function poolsOf({ lineage, project, rates }: IdentifiedKey): LimitOf<Pool>[] {
  const pool = (scope: Scope, subject: string, max: number | null) =>
    max === null ? [] : [{ scope, name: `${subject}:running`, max }]
  return [
    ...pool('key', lineage, rates.key.concurrentCalls),
    ...pool('project', project, rates.project.concurrentCalls),
  ]
}

function exceededOf(
  limits: (NamedMeter | LimitOf<Pool>)[],
  { exceeded, retryAfterMs, shares }: Taking,
): Omit<Exceeded, 'headers'> {
  const limit = limits[exceeded!]!
  const { scope } = limit
  const max = shareOf(limit.max, shares)
  if (!('counted' in limit))
    return { exceeded: { scope, limit: 'concurrent', max, seconds: 0 }, retryAfterMs, tokens: null }
  const { counted, cost, windowMs } = limit
  const facts = { scope, limit: counted, seconds: windowMs / 1000 }
  const tokens = counted === 'tokens' ? cost : null
  if (cost > limit.max) return { exceeded: { ...facts, max: limit.max }, retryAfterMs: null, tokens }
  return { exceeded: { ...facts, max }, retryAfterMs, tokens }
}

/** Of each count, the limit with the least left. */
function headersOf(meters: NamedMeter[], { windows, shares }: Taking): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const counted of ['requests', 'tokens'] as const) {
    const [tightest] = meters
      .map((meter, n) => ({ ...meter, max: shareOf(meter.max, shares), window: windows[n]! }))
      .filter((meter) => meter.counted === counted)
      .map((meter) => ({ ...meter, left: Math.max(0, meter.max - meter.window.used) }))
      .toSorted((one, other) => one.left / one.max - other.left / other.max)
    if (!tightest) continue
    headers[`x-ratelimit-limit-${counted}`] = String(tightest.max)
    headers[`x-ratelimit-remaining-${counted}`] = String(tightest.left)
    headers[`x-ratelimit-reset-${counted}`] = durationOf(tightest.window.endsInMs)
  }
  return headers
}

/** As OpenAI writes it: `820ms`, `12s`, `1m30s`. */
function durationOf(ms: number): string {
  if (ms < 1_000) return `${ms}ms`
  const seconds = Math.ceil(ms / 1_000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
}

/** Returns the 429 for the caller. */
export function tooOften({ exceeded, retryAfterMs, tokens, headers }: Exceeded): Refusal {
  const { scope, limit, max, seconds } = exceeded
  if (retryAfterMs === null)
    return new Refusal(
      'rate_limited',
      `This call may use ${tokens} tokens, and this ${scope} may use ${max} in ${seconds} s.`,
      'Lower max_tokens, shorten the prompt, or ask an owner of the project for a higher limit.',
      { retryAfterMs, details: { ...exceeded }, headers },
    )
  const said = limit === 'concurrent' ? `have ${max} calls running at a time` : `use ${max} ${limit} in ${seconds} s`
  return new Refusal(
    'rate_limited',
    `This ${scope} may ${said}.`,
    limit === 'concurrent'
      ? 'Retry after Retry-After seconds, when one of them has ended.'
      : `Retry in ${Math.ceil(retryAfterMs / 1_000)} seconds, when the limit resets, and spread your requests out.`,
    { retryAfterMs, details: { ...exceeded }, headers },
  )
}
