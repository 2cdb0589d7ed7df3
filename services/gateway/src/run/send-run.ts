import type { IncomingMessage, ServerResponse } from 'node:http'
import { AssetMissing, AssetStoreUnavailable } from '@gateway/assets/asset-failures'
import type { ExecutionRecord } from '@gateway/contracts/execution'
import { Refusal } from '@gateway/contracts/refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import { sendJson } from '../answer/send-json.ts'
import type { KnownAsset, SendAsset } from '../assets/send-asset.ts'
import { outputImage } from './output-image.ts'

/** Sends the record of an ended run as the ledger wrote it. */
export function sendRecord(res: ServerResponse, record: string): void {
  sendJson(res, 200, record, { 'Cache-Control': 'private, no-store' })
}

export type SendImage = (req: IncomingMessage, res: ServerResponse, record: string) => Promise<boolean>

interface Deps {
  ledger: Pick<LedgerClient, 'readAsset'>
  sendAsset: SendAsset
}

/**
 * Sends the image that a run's output is, or answers false where it is none and the record is the answer (spec 4.3).
 * @throws Refusal `range_not_satisfiable`; `unavailable` where the bytes can't be read now
 */
export function imageSender({ ledger, sendAsset }: Deps): SendImage {
  return async (req, res, record) => {
    const execution = JSON.parse(record) as ExecutionRecord
    const image = outputImage(execution)
    if (image === null) return false
    try {
      const known = await stored(image.asset, execution.project)
      if (known === null || !known.mimeType.startsWith('image/')) return false
      await sendAsset(req, res, known)
      return true
    } catch (error) {
      if (error instanceof AssetMissing) return false
      if (error instanceof AssetStoreUnavailable || error instanceof LedgerUnavailable) throw notNow(execution.id)
      throw error
    }
  }

  /** null: what only looks like an asset, such as an object that somebody put into the run. */
  async function stored(asset: string, project: string): Promise<KnownAsset | null> {
    if (asset.length > 256) return null
    const answer = await ledger.readAsset({ caller: { project }, asset })
    return 'refused' in answer ? null : answer.asset
  }
}

function notNow(execution: string): Refusal {
  return new Refusal(
    'unavailable',
    `The run ${execution} has succeeded and is charged, and its image can not be read now.`,
    'Repeat the request with the same Idempotency-Key after Retry-After seconds: nothing is charged for it again. Accept: application/json answers the record.',
  )
}
