import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { flowLimits } from '@gateway/contracts/limits'
import { refuseUnread } from '@gateway/service-kit/http/read-body'
import { sendJson } from '@gateway/service-kit/http/send'
import { withPermit } from '../../admission/limits.ts'
import { declaredType } from '@gateway/assets/declared-type'
import { sendAsset } from '@gateway/assets/send-asset'
import { storeUpload } from '../../assets/store-upload.ts'
import type { Deps } from '../../deps.ts'
import { readCaller, storableId } from '../../request/read-headers.ts'

type Needed = Pick<Deps, 'concurrencyLimiter' | 'ledger' | 'assetStore' | 'newId'>

/**
 * POST /v1/assets: raw bytes in, the value object that names them out (flows §4.7).
 * @throws Refusal 400, 413, or as the admission of a call would
 */
export function uploadAsset(deps: Needed): RequestHandler {
  return (req, res) => {
    const caller = readCaller(req)
    return withPermit(deps.concurrencyLimiter, res, caller.keyHash, async (permit) => {
      const declared = declaredType(req)
      refuseUnread(req, flowLimits.assetBytes)
      const answer = await deps.ledger.key(caller)
      if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
      const { project } = answer.key
      permit.attributeTo(project)
      const value = await storeUpload(deps, req, caller, project, declared)
      sendJson(res, 201, JSON.stringify(value), { 'Cache-Control': 'private, no-store' })
    })
  }
}

/**
 * GET /v1/assets/{id}: private bytes of the key's project (rules §2.5).
 * @throws Refusal as the admission of a call would, or `asset_not_found`
 */
export function showAsset(deps: Needed): RequestHandler<{ id: string }> {
  return (req, res) => {
    const caller = readCaller(req)
    return withPermit(deps.concurrencyLimiter, res, caller.keyHash, async (permit) => {
      const answer = await deps.ledger.readAsset({ caller, asset: storableId(req.params.id) })
      if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
      permit.attributeTo(answer.asset.project)
      await sendAsset(deps, req, res, answer.asset)
    })
  }
}
