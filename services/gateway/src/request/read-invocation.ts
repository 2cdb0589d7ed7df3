import type { IncomingMessage } from 'node:http'
import { readInvokeRequest } from '@gateway/contracts/invoke-request'
import { flowLimits } from '@gateway/contracts/limits'
import { refuse } from '@gateway/contracts/refusal'
import { parseJson, readBody } from '@gateway/service-kit/http/read-body'
import { fingerprintOf } from './fingerprint.ts'
import { readIdempotencyKey, refuseRepeatedHeaders, selectorOf } from './read-headers.ts'

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
