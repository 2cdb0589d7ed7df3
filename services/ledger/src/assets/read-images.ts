import type { ImageAnswer, ImageQuestion } from '@gateway/contracts/flow-reads'
import type { ImageLimits } from '@gateway/contracts/image-limits'
import type { Deps } from '../deps.ts'
import { readCaller } from '../keys/read-caller.ts'

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

/** @param isNew whether the call begins now: an execution in progress keeps what was deleted since it began (delete-asset.ts). */
async function readAssets({ reads }: Pick<Deps, 'reads'>, project: string, assets: string[], isNew: boolean) {
  if (assets.length === 0) return []
  const rows = await reads.prisma.asset.findMany({
    where: { id: { in: assets }, project, ...(isNew && { deletedAt: null }) },
  })
  return rows.map(({ id, mimeType, bytes }) => ({ id, mimeType, bytes }))
}
