import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { refuse } from '@gateway/api/refusal'
import { type MinimumRate, minimumRate, watchRate } from '@gateway/service-kit/http/connections'
import type { AssetStore } from './asset-store.ts'

/** An asset as the ledger records it. */
export interface RecordedAsset {
  id: string
  project: string
  mimeType: string
  bytes: number
}

/** A pipeline adds seven for the end of a response, which has four of ours. */
const MOST_LISTENERS = 20

/**
 * Sends the bytes of an asset, or the requested part (flows §4.5, §4.7). Only the caller may cache them, and a browser
 * must not interpret them as another type. The connection of a caller that reads below the minimum rate is destroyed.
 * @param more additional headers
 * @throws Refusal `range_not_satisfiable`, `overloaded`
 * @throws AssetMissing, AssetStoreUnavailable: before anything was sent
 */
export async function sendAsset(
  { assetStore }: { assetStore: Pick<AssetStore, 'openForCaller'> },
  req: IncomingMessage,
  res: ServerResponse,
  asset: RecordedAsset,
  more: Readonly<Record<string, string>> = {},
  rate: MinimumRate = minimumRate,
): Promise<void> {
  const range = rangeOf(req, asset.bytes)
  if (range.kind === 'unsatisfiable')
    throw refuse('range_not_satisfiable', asset, { headers: { 'Content-Range': `bytes */${asset.bytes}` } })
  const part = range.kind === 'part' ? range : undefined
  const length = part ? part.last - part.first + 1 : asset.bytes
  const headers = {
    ...more,
    'Content-Type': asset.mimeType,
    'Content-Length': length,
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
    'Accept-Ranges': 'bytes',
    ...(part && { 'Content-Range': `bytes ${part.first}-${part.last}/${asset.bytes}` }),
  }
  if (req.method === 'HEAD') return void res.writeHead(200, headers).end()
  const bytes = await assetStore.openForCaller(asset.project, asset.id, part)
  if (res.destroyed) return void bytes.destroy()
  res.writeHead(part ? 206 : 200, headers)
  const passed = () => res.socket?.bytesWritten ?? 0
  const stopWatching = watchRate(passed, () => res.destroy(), rate)
  res.setMaxListeners(MOST_LISTENERS)
  // If the caller disconnects or the store breaks off, close the connection: the response is incomplete.
  await pipeline(bytes, res).catch(() => res.destroy())
  stopWatching()
}

/** We send no ETag and no date, so no If-Range condition can match; and HEAD has no ranges. */
function rangeOf({ headers, method }: IncomingMessage, bytes: number): Range {
  if (headers['if-range'] !== undefined || method === 'HEAD') return { kind: 'whole' }
  return byteRange(headers.range, bytes)
}

/** The requested bytes; the first and the last, counted from 0. */
export type Range = { kind: 'whole' } | { kind: 'part'; first: number; last: number } | { kind: 'unsatisfiable' }

const WHOLE: Range = { kind: 'whole' }
const ONE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i

/**
 * Parses a Range header (RFC 9110, 14) for a file of `bytes`. A header that is malformed or requests several parts is
 * ignored: the whole is then sent, which any client accepts.
 */
export function byteRange(header: string | undefined, bytes: number): Range {
  const [, from = '', to = ''] = ONE_RANGE.exec(header ?? '') ?? []
  if (from === '' && to === '') return WHOLE
  if (from === '') return lastBytes(Number(to), bytes)
  const [first, last] = [Number(from), to === '' ? Infinity : Number(to)]
  if (first > last) return WHOLE
  if (first >= bytes) return { kind: 'unsatisfiable' }
  return { kind: 'part', first, last: Math.min(last, bytes - 1) }
}

function lastBytes(count: number, bytes: number): Range {
  if (count === 0) return { kind: 'unsatisfiable' }
  return { kind: 'part', first: Math.max(0, bytes - count), last: bytes - 1 }
}
