import type { RequestOf, ResponseOf } from '@gateway/contracts/ledger-operations'
import { flowLimits } from '@gateway/contracts/limits'
import type { Deps } from '../deps.ts'

// How an asset ends.
//   D1  It is deleted by a mark in its row. From then on nobody can ask for it, and no call that begins may name it.
//   D2  An execution that was begun before may still name it. So its bytes stay for longer than any execution lasts.
//   D3  Then its bytes are removed by whoever has the store, and after that its row. Each step may be repeated: where one was cut off,
//       the mark is still there, and removing bytes that are gone changes nothing.

/** POST /assets/delete. D1 */
export async function deleteAsset(
  { reads }: Pick<Deps, 'reads'>,
  { project, asset }: RequestOf<'deleteAsset'>,
): Promise<ResponseOf<'deleteAsset'>> {
  const count = await reads.prisma.$executeRaw`
    UPDATE money.assets SET deleted_at = now() WHERE id = ${asset} AND project = ${project} AND deleted_at IS NULL`
  return { deleted: count > 0 }
}

/** POST /assets/to-remove: the oldest of them. D2 */
export async function listAssetsToRemove(
  { reads }: Pick<Deps, 'reads'>,
  { limit }: RequestOf<'assetsToRemove'>,
): Promise<ResponseOf<'assetsToRemove'>> {
  const assets = await reads.prisma.$queryRaw<{ id: string; project: string }[]>`
    SELECT id, project FROM money.assets
     WHERE deleted_at < now() - ${flowLimits.deletedAssetMs}::int * interval '1 millisecond'
     ORDER BY deleted_at LIMIT ${limit}::int`
  return { assets }
}

/** POST /assets/removed. D3 */
export async function forgetAssets(
  { reads }: Pick<Deps, 'reads'>,
  { ids }: RequestOf<'assetsRemoved'>,
): Promise<ResponseOf<'assetsRemoved'>> {
  await reads.prisma.$executeRaw`
    DELETE FROM money.assets
     WHERE id = ANY (${ids}) AND deleted_at < now() - ${flowLimits.deletedAssetMs}::int * interval '1 millisecond'`
  return {}
}
