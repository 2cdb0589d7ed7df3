import type { RequestHandler } from 'express'
import { refuse } from '@gateway/api/refusal'
import { AssetMissing } from '@gateway/assets/blob-backend'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { flowLimits } from '@gateway/api/limits'
import { refuseUnread } from '@gateway/service-kit/http/read-body'
import { sendJson } from '@gateway/service-kit/http/answers'
import { withPermit } from '../../admission/limits.ts'
import { declaredBytes, declaredType, storeBody } from '@gateway/assets/store-body'
import { sendAsset } from '@gateway/assets/send-asset'
import { recordStored } from '@gateway/ledger-client/record-stored'
import type { Deps } from '../../deps.ts'
import { readCaller, storableId } from '../../request/read-headers.ts'
import type { IncomingMessage } from 'node:http'
import type { AssetValue } from '@gateway/api/execution'
import type { CallerQuestion } from '@gateway/ledger-protocol/ledger-reads'
import type { MediaType } from '@gateway/api/media-type'

type Needed = Pick<Deps, 'keyGate' | 'concurrencyLimiter' | 'ledger' | 'assetStore' | 'newId'>

/**
 * POST /v1/assets: stores raw bytes and returns the value that names them (flows §4.7).
 * @throws Refusal 400, 413, or as the admission of a call would
 */
export function uploadAsset(deps: Needed): RequestHandler {
  return (req, res) =>
    withPermit(deps, res, async (keyHash) => {
      const caller = readCaller(req, keyHash)
      const declared = declaredType(req)
      refuseUnread(req, flowLimits.assetBytes)
      const answer = await deps.ledger.admitAsset({ caller, bytes: declaredBytes(req) })
      if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
      const { project } = answer
      const value = await storeUpload(deps, req, caller, project, declared)
      sendJson(res, 201, JSON.stringify(value), { 'Cache-Control': 'private, no-store' })
    })
}

/**
 * GET /v1/assets/{id}: bytes of an asset of the key's project (rules §2.5).
 * @throws Refusal as the admission of a call would, or `asset_not_found`
 */
export function showAsset(deps: Needed): RequestHandler<{ id: string }> {
  return (req, res) =>
    withPermit(deps, res, async (keyHash) => {
      const caller = readCaller(req, keyHash)
      const answer = await deps.ledger.readAsset({ caller, asset: storableId(req.params.id) })
      if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
      await sendAsset(deps, req, res, answer.asset).catch((error: unknown) => {
        throw error instanceof AssetMissing ? refuse('asset_not_found', { asset: answer.asset.id }) : error
      })
    })
}

// Uploads.
//   U1  A caller that may not store is refused before the body is read, and unusable bytes before
//       the rest of the body is read.
//   U2  Bytes are streamed to the store and never held in memory whole.
//   U3  An asset belongs to the project once the ledger has recorded it. An unrecorded asset can't be read.

type UploadNeeded = Pick<Deps, 'ledger' | 'assetStore' | 'newId'>

/**
 * Stores the body of a request as an asset of the project and returns the value that names it.
 * @throws Refusal 400, 413, or as the admission of a call would; ClientDisconnected
 */
async function storeUpload(
  deps: UploadNeeded,
  req: IncomingMessage,
  caller: CallerQuestion,
  project: string,
  declared: MediaType,
): Promise<AssetValue> {
  const id = deps.newId('ast')
  const stored = await storeBody(deps.assetStore, req, { project, id, declared }) // U1, U2
  const { mimeType, bytes } = stored
  const recorded = await recordStored(deps, { id, project, caller, mimeType, bytes }) // U3
  if ('refused' in recorded) throw refusalFor(recorded.refused, 'chat')
  if (recorded.project !== project) throw new Error('a key has changed its project')
  return { asset: id, mimeType, bytes }
}
