import type {
  AssetAnswer,
  AssetQuestion,
  AssetRecordAnswer,
  AssetRecordQuestion,
  ImageAnswer,
  ImageQuestion,
} from '@gateway/ledger-protocol/flow-reads'
import { refused, type Refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { Deps } from '../deps.ts'
import { readCaller } from '../keys/read-caller.ts'
import type { RequestOf, ResponseOf } from '@gateway/ledger-protocol/ledger-operations'
import { flowLimits } from '@gateway/api/limits'
import type { ImageLimits } from '@gateway/api/images'

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

/**
 * Puts stored bytes on a project's books: they were uploaded with a key or by a user, or an execution made them. Safe to repeat.
 * @throws Error where the id is taken by something else, which no honest caller can bring about
 */
export async function recordAsset(
  deps: Pick<Deps, 'reads'>,
  { id, caller, mimeType, bytes }: AssetRecordQuestion,
): Promise<AssetRecordAnswer> {
  const { prisma } = deps.reads
  const owner = await ownerOf(deps, caller)
  if ('refused' in owner) return owner
  const { key, user, execution } = { key: null, user: null, execution: null, ...owner }
  await prisma.$executeRaw`
    INSERT INTO money.assets (id, project, mime_type, bytes, execution, key, user_id)
    VALUES (${id}, ${owner.project}, ${mimeType}, ${bytes}, ${execution}, ${key}, ${user}) ON CONFLICT (id) DO NOTHING`
  const recorded = await prisma.asset.findUniqueOrThrow({ where: { id } })
  const { project } = owner
  if (recorded.project !== project || recorded.mimeType !== mimeType || recorded.bytes !== bytes)
    throw new Error(`the asset ${id} is on the books as another one`)
  return { recorded: true, project }
}

/** Whose they are, and who brought them. Of a user the console has said that they may. */
async function ownerOf(
  deps: Pick<Deps, 'reads'>,
  caller: AssetRecordQuestion['caller'],
): Promise<{ project: string; key?: string; user?: string; execution?: string } | Refused> {
  if ('user' in caller) return caller
  if ('execution' in caller) return findExecution(deps, caller)
  const answer = await readCaller(deps, caller)
  return 'refused' in answer ? answer : { project: answer.project, key: answer.id }
}

async function findExecution(
  { reads }: Pick<Deps, 'reads'>,
  { project, execution }: { project: string; execution: string },
): Promise<{ project: string; execution: string } | Refused> {
  const row = await reads.prisma.execution.findFirst({ where: { id: execution, project }, select: { project: true } })
  return row ? { project, execution } : refused('execution_not_found', { execution })
}

// How an asset ends.
//   D1  It is deleted by a mark in its row. From then on no one can ask for it, and no call that begins may name it.
//   D2  An execution that was begun before may still name it. So its bytes stay for longer than any execution lasts.
//   D3  Then its bytes are removed by anyone who has the store, and after that its row. Each step may be repeated: where one was cut off,
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

interface LimitsRow {
  image_max_bytes: number
  image_max_count: number
  image_https: boolean
}

/**
 * What a chat product takes of images, and what the assets are that a call names. Nothing is decided here: whether the caller may
 * call the product is the admission's to say, and it says so first (rules §2.3).
 */
export async function readImages(
  deps: Pick<Deps, 'reads'>,
  { caller, model, assets }: ImageQuestion,
): Promise<ImageAnswer> {
  const owner = 'keyHash' in caller ? await readCaller(deps, caller) : caller
  if ('refused' in owner) return owner
  const { project } = owner
  const [limits, found] = await Promise.all([
    readLimits(deps, project, model),
    readAssets(deps, project, assets, 'keyHash' in caller),
  ])
  return { project, limits, assets: found }
}

async function readLimits({ reads }: Pick<Deps, 'reads'>, project: string, model: string): Promise<ImageLimits | null> {
  const [row] = await reads.prisma.$queryRaw<LimitsRow[]>`
    SELECT p.image_max_bytes, p.image_max_count, p.image_https FROM money.callable_chat_products p
     WHERE p.project = ${project} AND p.id = ${model} AND p.max_tokens_per_image IS NOT NULL`
  return row ? { maxBytes: row.image_max_bytes, maxCount: row.image_max_count, https: row.image_https } : null
}

/** @param isNew whether the call begins now: an execution in progress keeps what was deleted since it began (deleteAsset). */
async function readAssets({ reads }: Pick<Deps, 'reads'>, project: string, assets: string[], isNew: boolean) {
  if (assets.length === 0) return []
  const rows = await reads.prisma.asset.findMany({
    where: { id: { in: assets }, project, ...(isNew && { deletedAt: null }) },
  })
  return rows.map(({ id, mimeType, bytes }) => ({ id, mimeType, bytes }))
}
