import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { AssetStore } from '@gateway/assets/asset-store'
import { refuse } from '@gateway/contracts/refusal'
import { byteRange, type Range } from './byte-range.ts'

/** An asset on the books: whose it is and what it is. */
export interface KnownAsset {
  id: string
  project: string
  mimeType: string
  bytes: number
}

export type SendAsset = (req: IncomingMessage, res: ServerResponse, asset: KnownAsset) => Promise<void>

/**
 * Sends the bytes of an asset, or the part that is asked for (spec 4.3; decisions.md, 6). Nobody but the caller may keep them,
 * and no browser may take them for anything else than what they are.
 * @throws Refusal `range_not_satisfiable`
 * @throws AssetMissing, AssetStoreUnavailable: before anything was sent
 */
export function assetSender({ store }: { store: Pick<AssetStore, 'open'> }): SendAsset {
  return async (req, res, asset) => {
    const range = rangeOf(req, asset.bytes)
    if (range.kind === 'unsatisfiable')
      throw refuse('range_not_satisfiable', asset, { headers: { 'Content-Range': `bytes */${asset.bytes}` } })
    const part = range.kind === 'part' ? range : undefined
    const length = part ? part.last - part.first + 1 : asset.bytes
    const headers = {
      'Content-Type': asset.mimeType,
      'Content-Length': length,
      'Cache-Control': 'private, no-store',
      'X-Content-Type-Options': 'nosniff',
      'Accept-Ranges': 'bytes',
      ...(part && { 'Content-Range': `bytes ${part.first}-${part.last}/${asset.bytes}` }),
    }
    if (req.method === 'HEAD') return void res.writeHead(200, headers).end()
    const bytes = await store.open(asset.project, asset.id, part)
    if (res.destroyed) return void bytes.destroy()
    res.writeHead(part ? 206 : 200, headers)
    await pipeline(bytes, res).catch(() => res.destroy()) // he has left, or the store broke off: what he has is not whole
  }
}

/** We give no ETag and no date, so no condition of If-Range holds; and HEAD knows no parts. */
function rangeOf({ headers, method }: IncomingMessage, bytes: number): Range {
  if (headers['if-range'] !== undefined || method === 'HEAD') return { kind: 'whole' }
  return byteRange(headers.range, bytes)
}
