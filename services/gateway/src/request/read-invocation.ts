import type { IncomingMessage } from 'node:http'
import { readInvokeRequest } from '@gateway/api/invoke-request'
import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { acceptedType, namesNoType } from '@gateway/service-kit/http/routes'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'
import { invocationFingerprint } from './input-aliases.ts'
import { readIdempotencyKey, readTag, refuseRepeatedHeaders, selectorOf } from './read-headers.ts'
import type { Request } from 'express'
import { progressQuery, type ProgressQuery } from '@gateway/api/execution'
import { invalidIssue, READABLE } from '@gateway/api/field-problem'

/** An invocation that has passed every check that needs no state (rules §2.3). */
export interface Invocation {
  /** SHA-256 of the key's secret, hex. */
  keyHash: string
  /** Project named by the caller, which the ledger compares; null if none is named. */
  selector: string | null
  /** Named by the caller; null: none. */
  tag: string | null
  input: Record<string, unknown>
  revision: number | null
  /** Micro-USD; null for no ceiling. */
  maxMicro: number | null
  idempotency: { key: string; fingerprint: string }
}

/**
 * Reads POST /v1/sandbox/{id}/invoke once its key has been read: the headers, then the body (flows §4.1, rules §2.7).
 * @throws Refusal 400 or 413
 * @throws ClientDisconnected if the caller disconnects before the body is complete
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
    tag: readTag(req),
    input,
    revision,
    maxMicro,
    idempotency: { key, fingerprint: invocationFingerprint({ ...(body as object), input }) },
  }
}

export const NDJSON = 'application/x-ndjson'

/**
 * The response to an invocation (flows §4.4, §4.5): its `progress`, its `record`, or, if no content type is named and
 * the output is one image, the `bytes` of that image.
 */
export type AcceptedAnswer = 'progress' | 'record' | 'bytes'

/** Reads the Accept header. Never 406: a caller that names another type gets the record (flows §4.1). */
export function acceptedAnswer(req: Pick<Request, 'headers' | 'accepts'>): AcceptedAnswer {
  if (namesNoType(req)) return 'bytes'
  return acceptedType(req, ['application/json', NDJSON]) === NDJSON ? 'progress' : 'record'
}

/** Reads the query of a progress route (flows §4.4). @throws Refusal `invalid_request` with the field as `param` */
export function readProgressQuery(query: unknown): ProgressQuery {
  const parsed = progressQuery.safeParse(query, READABLE)
  if (!parsed.success) throw invalidIssue(parsed.error.issues[0]!)
  return parsed.data
}

/** Largest Postgres integer. No sandbox product has this many revisions. */
const MAX_REVISION = 2_147_483_647

/** Clamps a revision number to the Postgres integer range. The clamped number names no revision either. */
export function storableRevision(revision: number | null): number | null {
  return revision === null ? null : Math.min(revision, MAX_REVISION)
}
