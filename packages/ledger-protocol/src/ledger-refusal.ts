import { refuse, type FactsOf, type Refusal, type RefusalCode, type RefusalExtras } from '@gateway/api/refusal'
import { z } from 'zod'
import { refusals } from '@gateway/api/refusals'

// The ledger's refusals, and the one place that converts them into what a caller sees (rules §2.4).
//
// A code that the ledger may return is a row of `shown` below, or one of `InsideFacts`. Any other code does not
// compile, and a test of the ledger compares the codes that SQL returns with these rows.

/** Where it is reported: to a caller of a model or of a sandbox product, as the error of a node, or in the console. */
export type Surface = 'chat' | 'invoke' | 'node' | 'console'

/** Facts of a refusal that a caller may read in addition to its text, and the field of the request at fault. */
const shown = {
  key_invalid: nothing,
  key_revoked: ({ rotatedTo }) => (rotatedTo === null ? {} : { details: { rotatedTo } }),
  key_expired: nothing,
  key_paused: nothing,
  key_unbound: nothing,
  key_issuer_denied: nothing,
  not_permitted: nothing,
  quota_reached: ({ quota, limit, used }) => ({ details: { quota, limit, used } }),
  project_mismatch: nothing,
  model_not_found: () => ({ param: 'model' }),
  sandbox_not_found: nothing,
  execution_not_found: nothing,
  execution_not_ended: nothing,
  rerun_differs: ({ nodes }) => ({ param: 'revision', details: { nodes } }),
  asset_not_found: nothing,
  invocation_not_found: nothing,
  invocation_archived: nothing,
  tag_mismatch: () => ({ param: 'X-Service-Tag' }),
  key_scope: (_, surface) => (surface === 'chat' ? { param: 'model' } : {}),
  product_not_assigned: nothing,
  sandbox_contract: () => ({ param: 'model' }),
  revision_not_active: ({ revision, activeRevision, suspended }, surface) =>
    surface === 'console'
      ? { param: 'revision' }
      : { ...(revision !== null && { param: 'revision' }), details: { revision, activeRevision, suspended } },
  graph_invalid: ({ problems }) => ({ param: 'revision', details: { problems } }),
  input_type: ({ fields }, surface) => ({ param: surface === 'chat' ? 'messages' : 'input', details: { fields } }),
  rate_limited: nothing,
  idempotency_mismatch: nothing,
  answer_not_kept: nothing,
  context_limit: ({ contextLength, maxOutputTokens, promptTokens, outputCap }, surface) => ({
    ...(surface === 'chat' && { param: outputCap > maxOutputTokens ? 'max_tokens' : 'messages' }),
    details: { contextLength, maxOutputTokens, promptTokens, outputCap },
  }),
  ceiling_reached: ({ maxMicro, chargedMicro, reservedMicro, neededMicro }) => ({
    details: { maxMicro, chargedMicro, reservedMicro, neededMicro },
  }),
  key_limit: ({ limitMicro, spentMicro, reservedMicro, neededMicro, resetsAt }) => ({
    details: { limitMicro, spentMicro, reservedMicro, neededMicro, resetsAt },
  }),
  budget_reached: ({ kind, subject, limitMicro, spentMicro, reservedMicro, neededMicro, resetsAt }) => ({
    details: { kind, subject, limitMicro, spentMicro, reservedMicro, neededMicro, resetsAt },
  }),
  insufficient_budget: ({ availableMicro, reservedMicro, neededMicro, affordableMaxTokens }) => ({
    details: { availableMicro, reservedMicro, neededMicro, affordableMaxTokens },
  }),
  overloaded: nothing,
  unavailable: nothing,
} satisfies { [C in RefusalCode]?: (facts: FactsOf<C>, surface: Surface) => RefusalExtras }

/** Codes that only the ledger and its callers know; outside they are `invalid_request`, with the field at fault. */
interface InsideFacts {
  unsupported_parameter: { param: string }
  images_unsupported: object
  files_unsupported: object
  node_unknown: { from: string }
}

export type LedgerRefusalCode = keyof typeof shown | keyof InsideFacts

/**
 * In addition to the facts of its row: whose refusal it is, and whether an exact count of the prompt could change it.
 */
interface AskerFacts {
  project?: string
  tokenizer?: 'o200k_base' | 'cl100k_base' | null
  /** Minimum cost of the call, if its text had no tokens. Present when money is short. */
  leastMicro?: number
}

export type LedgerFacts<C extends LedgerRefusalCode> = AskerFacts &
  (C extends keyof InsideFacts ? InsideFacts[C] : C extends RefusalCode ? FactsOf<C> : never)

/** A refusal of the ledger: its code, and the facts of that code. */
export type LedgerRefusal = { [C in LedgerRefusalCode]: { code: C; facts: LedgerFacts<C> } }[LedgerRefusalCode]

/** What an operation of the ledger returns instead of its response, with status 200. */
export interface Refused {
  refused: LedgerRefusal
}

/** Refuses an operation of the ledger. */
export function refused<C extends LedgerRefusalCode>(code: C, facts: LedgerFacts<C>): Refused {
  return { refused: { code, facts } as LedgerRefusal }
}

const inside: { [C in keyof InsideFacts]: (facts: InsideFacts[C], surface: Surface) => Refusal } = {
  unsupported_parameter: ({ param }, surface) => {
    const reason = `${param}: this model does not support it.`
    const resolution =
      surface === 'node'
        ? `Leave ${param} out of the node's params, or use a model that lists it in its supported_parameters.`
        : `Leave ${param} out, or use a model that lists it in supported_parameters of GET /v1/models.`
    return refuse('invalid_request', { reason, resolution }, { param })
  },
  images_unsupported: (_, surface) => {
    const param = surface === 'node' ? 'image' : 'messages'
    const reason = `${param}: this model takes no images.`
    const resolution =
      surface === 'node'
        ? 'Leave the image port of the node unwired, or use a model that takes images.'
        : 'Send text alone, or use a model that lists image in its input_modalities of GET /v1/models.'
    return refuse('invalid_request', { reason, resolution }, { param })
  },
  files_unsupported: () => {
    const reason = 'messages: this model takes no files.'
    const resolution = 'Send text alone, or use a model that lists file in its input_modalities of GET /v1/models.'
    return refuse('invalid_request', { reason, resolution }, { param: 'messages' })
  },
  node_unknown: ({ from }) => {
    const reason = `from: the revision has no node ${from}.`
    const resolution = 'Send the id of a node of the revision, as the record of the execution lists them.'
    return refuse('invalid_request', { reason, resolution }, { param: 'from' })
  },
}

/**
 * Converts a refusal of the ledger into the one that its caller sees.
 * @throws Error for a code that the ledger does not have
 */
export function refusalFor({ code, facts }: LedgerRefusal, surface: Surface): Refusal {
  if (!isLedgerRefusalCode(code)) throw new Error(`${String(code)} is not a refusal of the ledger`)
  // The compiler does not see that code and facts match; `LedgerRefusal` guarantees it.
  if (Object.hasOwn(inside, code)) return inside[code as 'images_unsupported'](facts, surface)
  const extras = (shown[code as keyof typeof shown] as (facts: unknown, surface: Surface) => RefusalExtras)(
    facts,
    surface,
  )
  return refuse(code as 'overloaded', facts as FactsOf<'overloaded'>, extras)
}

export function isLedgerRefusalCode(code: string): code is LedgerRefusalCode {
  return Object.hasOwn(shown, code) || Object.hasOwn(inside, code)
}

function nothing(): RefusalExtras {
  return {}
}

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
