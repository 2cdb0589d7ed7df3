import type { IncomingMessage } from 'node:http'
import { readChatRequest, type ChatRequest } from '@gateway/contracts/chat-request'
import { chatLimits } from '@gateway/contracts/limits'
import { Refusal } from '@gateway/contracts/refusal'
import { readBody } from '@gateway/service-kit/http/read-body'
import { fingerprintOf } from './fingerprint.ts'
import { parseChatBody } from './parse-chat-body.ts'
import { readIdempotencyKey, refuseRepeatedHeaders, selectorOf } from './read-headers.ts'

/** A chat call that has passed every check that needs no state (rules §2.3). */
export interface ChatCall {
  /** SHA-256 of the key's secret, hex. */
  keyHash: string
  /** The project that the caller names, for the ledger to compare; null when none is named. */
  selector: string | null
  request: ChatRequest
  idempotency: { key: string; fingerprint: string } | null
}

/**
 * Reads POST /v1/chat/completions once its key has been read: the headers, then the body (rules §2.7, §3).
 * @throws Refusal 400 or 413
 * @throws ClientDisconnected when the caller left before the body was complete
 */
export async function readChat(req: IncomingMessage, keyHash: string): Promise<ChatCall> {
  refuseRepeatedHeaders(req)
  const idempotencyKey = readIdempotencyKey(req)
  const body = parseChatBody(await readWhole(req))
  const request = readChatRequest(body)
  return {
    keyHash,
    selector: selectorOf(req, request.projectId),
    request,
    idempotency: idempotencyKey === null ? null : { key: idempotencyKey, fingerprint: fingerprintOf(body as object) },
  }
}

/** Room is made for what a body says of its length; one that says nothing is as long as a text may be. */
async function readWhole(req: IncomingMessage): Promise<Buffer> {
  if (req.headers['content-length'] !== undefined) return readBody(req, chatLimits.bodyBytes)
  try {
    return await readBody(req, chatLimits.textBodyBytes)
  } catch (error) {
    throw error instanceof Refusal && error.code === 'request_too_large' ? lengthUntold() : error
  }
}

function lengthUntold(): Refusal {
  const { textBodyBytes, bodyBytes } = chatLimits
  return new Refusal(
    'request_too_large',
    `The request body is larger than ${textBodyBytes} bytes and does not say how long it is.`,
    `Send at most ${textBodyBytes} bytes; or, for images, a body that says its length in Content-Length, of at most ${bodyBytes} bytes.`,
  )
}
