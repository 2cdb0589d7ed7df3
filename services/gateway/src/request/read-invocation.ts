import type { IncomingMessage } from 'node:http'
import { readInvokeRequest } from '@gateway/api/invoke-request'
import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'
import { fingerprintOf, readIdempotencyKey, refuseRepeatedHeaders, selectorOf } from './read-headers.ts'
import type { Request } from 'express'
import { progressQuery, type ProgressQuery } from '@gateway/api/execution'
import { invalidIssue, READABLE } from '@gateway/api/field-problem'

/** An invocation that has passed every check that needs no state (rules §2.3). */
export interface Invocation {
  /** SHA-256 of the key's secret, hex. */
  keyHash: string
  /** The project that the caller names, for the ledger to compare; null when none is named. */
  selector: string | null
  input: Record<string, unknown>
  revision: number | null
  /** Micro-USD; null: no ceiling. */
  maxMicro: number | null
  idempotency: { key: string; fingerprint: string }
}

/**
 * Reads POST /v1/sandbox/{id}/invoke once its key has been read: the headers, then the body (flows §4.1, rules §2.7).
 * @throws Refusal 400 or 413
 * @throws ClientDisconnected when the caller left before the body was complete
 */
export async function readInvocation(req: IncomingMessage, keyHash: string): Promise<Invocation> {
  refuseRepeatedHeaders(req)
  const key = readIdempotencyKey(req)
  if (key === null) throw refuse('idempotency_key_required', {})
  const body = parseJson(await readBody(req, flowLimits.bodyBytes))
  const { input, revision, maxMicro, projectId } = readInvokeRequest(body)
  return {
    keyHash,
    selector: selectorOf(req, projectId),
    input,
    revision,
    maxMicro,
    idempotency: { key, fingerprint: fingerprintOf(body as object) },
  }
}

export const NDJSON = 'application/x-ndjson'

/**
 * What an invocation is to be answered with (flows §4.4, §4.5): its `progress`, its `record`, or, where no content type
 * is named and its output is one image, the `bytes` of that image.
 */
export type AcceptedAnswer = 'progress' | 'record' | 'bytes'

/** Reads the Accept header. Never 406: a caller who names something else gets the record (flows §4.1). */
export function acceptedAnswer(req: Pick<Request, 'headers' | 'accepts'>): AcceptedAnswer {
  const accept = req.headers.accept?.trim() ?? ''
  if (accept === '' || accept === '*/*') return 'bytes'
  return req.accepts(['application/json', NDJSON]) === NDJSON ? 'progress' : 'record'
}

/** The query of a route that answers progress (flows §4.4). @throws Refusal `invalid_request` with the field as `param` */
export function readProgressQuery(query: unknown): ProgressQuery {
  const parsed = progressQuery.safeParse(query, READABLE)
  if (!parsed.success) throw invalidIssue(parsed.error.issues[0]!)
  return parsed.data
}

/** As high as Postgres counts them; no sandbox product has this many. */
const MAX_REVISION = 2_147_483_647

/** A number of a revision as it can be looked for: one beyond what Postgres holds is none that there could be. */
export function storableRevision(revision: number | null): number | null {
  return revision === null ? null : Math.min(revision, MAX_REVISION)
}
