import type { IncomingMessage, ServerResponse } from 'node:http'
import { AssetMissing, AssetStoreUnavailable } from '@gateway/assets/asset-failures'
import type { AssetValue, ExecutionRecord } from '@gateway/contracts/execution'
import { Refusal } from '@gateway/contracts/refusal'
import { sendJson } from '@gateway/service-kit/http/send'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import { sendAsset, type RecordedAsset } from '@gateway/assets/send-asset'
import type { Deps } from '../deps.ts'
import type { EndedExecution } from './await-execution.ts'
import type { Execution } from './start-execution.ts'

/** From here on every answer says which execution it is about, and whether it was begun before (rules §2.2). */
export function setExecutionHeaders(
  res: ServerResponse,
  { execution, replayed }: Pick<Execution, 'execution' | 'replayed'>,
): void {
  res.setHeader('X-Service-Invocation', execution)
  if (replayed) res.setHeader('Idempotent-Replayed', 'true')
}

/** Sends the record of an execution as the ledger wrote it. */
export function sendRecord(res: ServerResponse, record: string): void {
  sendJson(res, 200, record, { 'Cache-Control': 'private, no-store' })
}

/**
 * Sends the image that an execution's output is by its contract, or answers false where it is none and the record is the
 * answer (flows §4.5).
 * @throws Refusal `range_not_satisfiable`; `unavailable` where the bytes can't be read now
 */
export async function sendImage(
  deps: Pick<Deps, 'ledger' | 'assetStore'>,
  req: IncomingMessage,
  res: ServerResponse,
  { record, image: field }: EndedExecution,
): Promise<boolean> {
  if (field === null) return false
  const execution = JSON.parse(record) as ExecutionRecord
  const image = execution.output?.[field] as AssetValue | null | undefined
  if (!image) return false // an optional output that no branch came to
  try {
    const asset = await recordedAsset(deps, image.asset, execution.project)
    if (asset === null) return false
    await sendAsset(deps, req, res, asset)
    return true
  } catch (error) {
    if (error instanceof AssetMissing) return false
    if (error instanceof AssetStoreUnavailable || error instanceof LedgerUnavailable) throw notNow(execution.id)
    throw error
  }
}

/** null: it was removed since. */
async function recordedAsset(
  { ledger }: Pick<Deps, 'ledger'>,
  asset: string,
  project: string,
): Promise<RecordedAsset | null> {
  const answer = await ledger.readAsset({ caller: { project }, asset })
  return 'refused' in answer ? null : answer.asset
}

function notNow(execution: string): Refusal {
  return new Refusal(
    'unavailable',
    `The execution ${execution} has succeeded and is charged, and its image can not be read now.`,
    'Repeat the request with the same Idempotency-Key after Retry-After seconds: nothing is charged for it again. Accept: application/json answers the record.',
  )
}
