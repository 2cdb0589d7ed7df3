import type { IncomingMessage } from 'node:http'
import { chatLimits, flowLimits } from '@gateway/api/limits'
import { isUpload } from '@gateway/service-kit/http/connections'

/** Bytes that the body of a request to this path may have, known before it is routed (rules §2.6). */
export function bodyLimitOf({ url = '' }: Pick<IncomingMessage, 'url'>): number {
  if (isUpload({ url })) return flowLimits.assetBytes
  if (url.startsWith('/v1/sandbox/') || url.startsWith('/api/v2/')) return flowLimits.bodyBytes
  return CALLS.test(url) ? chatLimits.bodyBytes : chatLimits.textBodyBytes
}

/** Calls whose body can have images. */
const CALLS = /^\/v1\/(chat\/|responses|messages)/
