import type { IncomingMessage } from 'node:http'
import { assetUrls } from '@gateway/assets/asset-urls'
import { assetIdsOf, type NamedAsset, findAttachmentError } from '@gateway/api/attachments'
import { refuseUnread } from '@gateway/service-kit/http/read-body'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { chatLimits } from '@gateway/api/limits'
import type { Refusal } from '@gateway/api/refusal'
import type { Caller } from '../admission/admission.ts'
import type { Deps } from '../deps.ts'
import type { ChatCall } from '../request/read-chat.ts'
import { readCaller, storable } from '../request/read-headers.ts'

// Images and files of chat calls and their share of the common memory budget (packages/service-kit/src/async/byte-budget.ts).
//   R1  A body above the limit for text is read only once there is memory for it; until then it stays with the sender.
//   R2  Memory is accounted per project. The key of such a body is verified before a byte of it is read, so that keys
//       without a project can't take the memory of others.
//   R3  All of it is released with the permit of the call.

export interface CallAttachments {
  /** Why the model can't take them; reported only if admission refuses nothing first. */
  attachmentError: Refusal | null
  /**
   * Reads those that are assets as `data:` URLs, by reference, once there is memory for them; undefined if none are.
   * @throws Refusal `overloaded`, `asset_not_found`; ClientDisconnected
   */
  load(project: string): Promise<Map<string, string> | undefined>
}

/** Asks the ledger whether the model of a call takes its attachments (rules §3.11). Only for calls with some. */
export async function prepareAttachments(
  deps: Pick<Deps, 'ledger' | 'imageMemory' | 'assetStore'>,
  { keyHash, selector, request: { model, attachments, promptSize } }: ChatCall,
  caller: Caller,
): Promise<CallAttachments> {
  const ids = assetIdsOf(attachments)
  const answer = await deps.ledger.readAttachments({
    caller: { keyHash, selector },
    model: storable(model),
    assets: ids,
  })
  if ('refused' in answer) return { attachmentError: refusalFor(answer.refused, 'chat'), load: async () => undefined }
  const { limits, assets } = answer
  const recorded = new Map(assets.map((asset) => [asset.id, asset]))
  const unsupported =
    promptSize.images > 0 && limits.images === null
      ? 'images_unsupported'
      : promptSize.files > 0 && !limits.files
        ? 'files_unsupported'
        : null
  const attachmentError = unsupported
    ? refusalFor({ code: unsupported, facts: {} }, 'chat')
    : findAttachmentError(attachments, recorded, limits.images, 'chat')
  return {
    attachmentError,
    load: async (project) => (assets.length > 0 ? loadAssets(deps, project, assets, caller) : undefined),
  }
}

/** Whether the Content-Length exceeds the limit for text, so that `makeRoomForBody` must be called. */
export function isLargerThanText(req: IncomingMessage): boolean {
  return Number(req.headers['content-length'] ?? 0) > chatLimits.textBodyBytes
}

/**
 * Takes memory for the body of a chat request.
 * @throws Refusal `request_too_large`, `overloaded`, or as the admission of a call would; ClientDisconnected
 */
export async function makeRoomForBody(
  deps: Pick<Deps, 'ledger' | 'imageMemory'>,
  req: IncomingMessage,
  keyHash: string,
  caller: Caller,
): Promise<void> {
  const asked = readCaller(req, keyHash)
  refuseUnread(req, chatLimits.bodyBytes)
  const answer = await deps.ledger.key(asked) // R2
  if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
  const { project } = answer.key
  await takeMemory(deps, project, Number(req.headers['content-length']), caller) // R1
}

async function loadAssets(
  deps: Pick<Deps, 'imageMemory' | 'assetStore'>,
  project: string,
  assets: readonly NamedAsset[],
  caller: Caller,
): Promise<Map<string, string>> {
  const bytes = assets.reduce((sum, asset) => sum + asset.bytes, 0)
  await takeMemory(deps, project, bytes, caller)
  return assetUrls(deps.assetStore, project, assets)
}

async function takeMemory(
  { imageMemory }: Pick<Deps, 'imageMemory'>,
  project: string,
  bytes: number,
  { disconnected, permit }: Caller,
): Promise<void> {
  permit.onRelease(await imageMemory.take(project, bytes, disconnected)) // R3
}
