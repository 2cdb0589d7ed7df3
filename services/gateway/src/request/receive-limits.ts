import type { IncomingMessage } from 'node:http'
import { chatLimits, flowLimits } from '@gateway/api/limits'
import { RECEIVE_MS, UPLOAD_MS } from '@gateway/service-kit/http/connections'

type Addressed = Pick<IncomingMessage, 'url'>

/** Returns the body limit of this path in bytes, before routing (rules §2.6). */
export function bodyLimitOf({ url = '' }: Addressed): number {
  if (isUpload({ url })) return flowLimits.assetBytes
  if (url.startsWith('/v1/sandbox/') || url.startsWith('/api/v2/')) return flowLimits.bodyBytes
  return url.startsWith('/v1/chat/') ? chatLimits.bodyBytes : chatLimits.textBodyBytes
}

/** Returns the time allowed to receive the body of this path, in milliseconds. */
export function receiveMsOf(req: Addressed): number {
  return isUpload(req) ? UPLOAD_MS : RECEIVE_MS
}

function isUpload({ url = '' }: Addressed): boolean {
  return url.startsWith('/v1/assets')
}
