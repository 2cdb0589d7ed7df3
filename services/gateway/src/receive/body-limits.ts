import type { IncomingMessage } from 'node:http'
import { chatLimits, flowLimits } from '@gateway/contracts/limits'

/** The raw body that a path takes at most, known before any route is (decisions.md, 1: 413). Bytes. */
export function bodyLimitOf({ url = '' }: Pick<IncomingMessage, 'url'>): number {
  if (url.startsWith('/v1/assets')) return flowLimits.assetBytes
  if (url.startsWith('/v1/sandbox/') || url.startsWith('/api/v2/')) return flowLimits.bodyBytes
  return chatLimits.bodyBytes
}
