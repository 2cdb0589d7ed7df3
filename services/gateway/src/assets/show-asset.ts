import type { RequestHandler } from 'express'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { ConcurrencyLimiter } from '../admit/concurrency-limiter.ts'
import { inPlace } from '../receive/in-place.ts'
import { readCaller } from '../receive/read-caller.ts'
import { storable } from '../receive/selector.ts'
import type { SendAsset } from './send-asset.ts'

interface Deps {
  places: Pick<ConcurrencyLimiter, 'take'>
  ledger: Pick<LedgerClient, 'readAsset'>
  sendAsset: SendAsset
}

/** No id of ours is longer. */
const MOST_CHARACTERS = 256

/**
 * GET /v1/assets/{id}: private bytes of the key's project (decisions.md, 6).
 * @throws Refusal as the admission of a call would, or `asset_not_found`
 */
export function showAsset({ places, ledger, sendAsset }: Deps): RequestHandler<{ id: string }> {
  return (req, res) => {
    const caller = readCaller(req)
    return inPlace(places, res, caller.keyHash, async (place) => {
      const answer = await ledger.readAsset({ caller, asset: storable(req.params.id).slice(0, MOST_CHARACTERS) })
      if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
      place.countsFor(answer.asset.project)
      await sendAsset(req, res, answer.asset)
    })
  }
}
