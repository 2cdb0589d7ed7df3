import type { AssetAnswer, AssetQuestion } from '@gateway/contracts/flow-reads'
import { refused } from '@gateway/contracts/ledger-refusal'
import type { Deps } from '../deps.ts'
import { readCaller } from '../keys/read-caller.ts'

/**
 * Whose an asset is and what it is; its bytes lie in the asset store. Another project's asset is answered like none, and so is a
 * deleted one.
 */
export async function readAsset(deps: Pick<Deps, 'reads'>, { caller, asset: id }: AssetQuestion): Promise<AssetAnswer> {
  const owner = 'keyHash' in caller ? await readCaller(deps, caller) : caller
  if ('refused' in owner) return owner
  const { project } = owner
  const asset = await deps.reads.prisma.asset.findFirst({ where: { id, project, deletedAt: null } })
  if (!asset) return refused('asset_not_found', { asset: id })
  return { asset: { id, project, mimeType: asset.mimeType, bytes: asset.bytes } }
}
