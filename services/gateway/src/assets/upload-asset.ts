import type { Request, RequestHandler, Response } from 'express'
import { AssetTooLarge, AssetTypeUnknown } from '@gateway/assets/asset-failures'
import type { AssetStore, StoredAsset } from '@gateway/assets/asset-store'
import type { AssetValue } from '@gateway/contracts/execution'
import type { Id } from '@gateway/contracts/ids'
import type { CallerQuestion } from '@gateway/contracts/ledger-reads'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { flowLimits } from '@gateway/contracts/limits'
import type { MediaType } from '@gateway/contracts/media-type'
import { refuse } from '@gateway/contracts/refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { ConcurrencyLimiter } from '../admit/concurrency-limiter.ts'
import { sendJson } from '../answer/send-json.ts'
import { CallerGone } from '../receive/caller-gone.ts'
import { inPlace } from '../receive/in-place.ts'
import { refuseUnread } from '../receive/read-body.ts'
import { readCaller } from '../receive/read-caller.ts'
import { declaredType, typeDiffers } from './declared-type.ts'

// How bytes come in.
//   U1  Whoever may not store is refused before his bytes are read, and bytes of no use before the rest of them are.
//   U2  They go to the store as they come; memory never holds them whole.
//   U3  They are the project's once they are on the ledger's books. What is not on the books nobody can read.

interface Deps {
  places: Pick<ConcurrencyLimiter, 'take'>
  ledger: Pick<LedgerClient, 'key' | 'recordAsset'>
  store: Pick<AssetStore, 'put' | 'remove'>
  mint: (prefix: 'ast') => Id<'ast'>
}

/**
 * POST /v1/assets: raw bytes in, the value object that names them out (decisions.md, 6).
 * @throws Refusal 400, 413, or as the admission of a call would
 */
export function uploadAsset({ places, ledger, store, mint }: Deps): RequestHandler {
  return (req, res) => {
    const caller = readCaller(req)
    return inPlace(places, res, caller.keyHash, async (place) => {
      const declared = declaredType(req)
      refuseUnread(req, flowLimits.assetBytes)
      const project = await projectOf(caller) // U1
      place.countsFor(project)
      await keep(req, res, caller, project, declared)
    })
  }

  async function keep(req: Request, res: Response, caller: CallerQuestion, project: string, declared: MediaType) {
    const id = mint('ast')
    const { mimeType, bytes } = await stored(req, project, id, declared)
    const recorded = await recordOf(id, caller, { mimeType, bytes }).catch(async (error: unknown) => {
      await store.remove(project, id).catch(() => {}) // U3
      throw error
    })
    if (recorded.project !== project) throw new Error('a key has changed its project')
    const value: AssetValue = { asset: id, mimeType, bytes }
    sendJson(res, 201, JSON.stringify(value), { 'Cache-Control': 'private, no-store' })
  }

  async function stored(req: Request, project: string, id: string, declared: MediaType): Promise<StoredAsset> {
    // Ended early, the request stays open: its caller is still to be answered.
    const bytes = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
    const kept = await store.put(project, id, bytes, { maxBytes: flowLimits.assetBytes }).catch((error: unknown) => {
      if (error instanceof AssetTooLarge) throw refuse('request_too_large', { limitBytes: flowLimits.assetBytes })
      if (error instanceof AssetTypeUnknown) throw typeDiffers(declared, null)
      throw req.destroyed && !req.complete ? new CallerGone() : error
    })
    if (kept.mimeType === declared) return kept
    await store.remove(project, id)
    throw typeDiffers(declared, kept.mimeType)
  }

  async function projectOf(caller: CallerQuestion): Promise<string> {
    const answer = await ledger.key(caller)
    if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
    return answer.key.project
  }

  async function recordOf(id: string, caller: CallerQuestion, { mimeType, bytes }: StoredAsset) {
    const answer = await ledger.recordAsset({ id, caller, mimeType, bytes })
    if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
    return answer
  }
}
