import { type QuotaFacts, quotaFacts, quotaOf, type QuotaValues } from '@gateway/api/quotas'
import type { Prisma, Database } from '@gateway/database/client'
import type {
  AssetAdmissionAnswer,
  AssetAdmissionQuestion,
  AssetAnswer,
  AssetQuestion,
  AssetRecordAnswer,
  AssetRecordQuestion,
  AttachmentAnswer,
  AttachmentQuestion,
} from '@gateway/ledger-protocol/flow-reads'
import { refused, type Refused } from '@gateway/ledger-protocol/ledger-refusal'
import type { Deps } from '../deps.ts'
import { type Caller, readCaller } from '../keys/read-caller.ts'
import type { RequestOf, ResponseOf } from '@gateway/ledger-protocol/ledger-operations'
import { timeOfId } from '@gateway/api/ids'
import { flowLimits } from '@gateway/api/limits'
import type { AttachmentLimits } from '@gateway/api/attachments'

/**
 * Returns the project and properties of an asset; its bytes are in the asset store. Assets of other projects and
 * deleted assets are not found, and neither is, for a `listed` key, what an execution outside its list has made.
 */
export async function readAsset(deps: Pick<Deps, 'reads'>, { caller, asset: id }: AssetQuestion): Promise<AssetAnswer> {
  const owner = 'keyHash' in caller ? await readCaller(deps, caller) : caller
  if ('refused' in owner) return owner
  const { project } = owner
  const [asset] = await findAssets(deps, owner, { id, deletedAt: null })
  if (!asset) return refused('asset_not_found', { asset: id })
  return { asset: { id, project, mimeType: asset.mimeType, bytes: asset.bytes } }
}

/** Returns those that the caller may read: of its project, and if it is a key, not outside its list. */
async function findAssets(
  { reads }: Pick<Deps, 'reads'>,
  owner: Caller | { project: string },
  where: Pick<Prisma.AssetWhereInput, 'id' | 'deletedAt'>,
) {
  const assets = await reads.prisma.asset.findMany({ where: { ...where, project: owner.project } })
  return 'lineage' in owner ? listedAssets(reads, owner.id, assets) : assets
}

// What a project may store.
//   Q1  A project without money stores nothing: only money bounds what a caller costs.
//   Q2  The row that counts a project's assets is locked by each insert, so concurrent uploads never exceed the quota.
//   Q3  An asset that an execution has paid for is kept even if uploads have filled the quota in the meantime; a new one
//       is refused before it is paid for.
//   Q4  An ID older than `assetRecordMs` is not recorded for the first time. From then on, bytes without a row never get
//       one, even if the process that stored them was suspended meanwhile, and may be removed
//       (services/console/src/assets/remove-unrecorded.ts).
//   Q5  A repeat of a record by the same key is answered as before, even if the key was revoked or expired meanwhile:
//       the bytes of a refused asset are removed.

type QuotaDeps = Pick<Deps, 'reads' | 'quotas'>

/** Whether the caller may store an asset now. */
export async function admitAsset(
  deps: QuotaDeps,
  { caller, bytes }: AssetAdmissionQuestion,
): Promise<AssetAdmissionAnswer> {
  const { prisma } = deps.reads
  const owner = await ownerOf(deps, caller)
  if ('refused' in owner) return owner
  const { project } = owner
  const wallet = await prisma.wallet.findUnique({ where: { project } })
  if (!wallet || wallet.funded <= wallet.settled) return refused('insufficient_budget', EMPTY) // Q1
  const reached = await reachedQuota(deps, prisma, project, { assets: 1, bytes: bytes ?? 1 })
  return reached === null ? { project } : refused('quota_reached', reached)
}

const EMPTY = { neededMicro: 1, availableMicro: 0, reservedMicro: 0, affordableMaxTokens: 0 }

/**
 * Records stored bytes as an asset of a project: uploaded with a key or by a user, or created by an execution. Safe to
 * repeat.
 * @throws Error if the id is taken by another asset, which no honest caller can cause, or too old for a new one (Q4)
 */
export async function recordAsset(deps: QuotaDeps, question: AssetRecordQuestion): Promise<AssetRecordAnswer> {
  const { id, caller, mimeType, bytes } = question
  const owner = await ownerOf(deps, caller)
  if ('refused' in owner) return (await recordOfKey(deps, question)) ?? owner // Q5
  const { project, key, user, execution, sandbox } = { key: null, user: null, execution: null, sandbox: null, ...owner }
  const insert = async (tx: Prisma.TransactionClient): Promise<void> => {
    const data = { id, project, mimeType, bytes, execution, sandbox, key, user }
    const select = { createdAt: true }
    const [added] = await tx.asset.createManyAndReturn({ data: [data], skipDuplicates: true, select })
    if (added === undefined) return
    if (isTooOld(id, added.createdAt)) throw new Error(`asset ${id} is too old to be recorded`) // Q4
    if (execution !== null) return // Q3
    const reached = await reachedQuota(deps, tx, project, { assets: 0, bytes: 0 })
    if (reached !== null) throw new QuotaReached(less(reached, bytes))
  }
  try {
    await deps.reads.prisma.$transaction(insert) // Q2
  } catch (error) {
    if (error instanceof QuotaReached) return refused('quota_reached', error.facts)
    throw error
  }
  const recorded = await deps.reads.prisma.asset.findUniqueOrThrow({ where: { id } })
  if (recorded.project !== project || recorded.mimeType !== mimeType || recorded.bytes !== bytes)
    throw new Error(`asset ${id} is already recorded with different values`)
  return { recorded: true, project }
}

/** Returns the record of the same bytes by the same key, or null. */
async function recordOfKey(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { id, caller, mimeType, bytes }: AssetRecordQuestion,
): Promise<AssetRecordAnswer | null> {
  if (!('keyHash' in caller)) return null
  const key = await prisma.key.findUnique({ where: { hash: Buffer.from(caller.keyHash, 'hex') }, select: { id: true } })
  const asset = key && (await prisma.asset.findFirst({ where: { id, key: key.id, mimeType, bytes } }))
  return asset && { recorded: true, project: asset.project }
}

/** Whether an ID is too old for a new asset. The clocks differ by a minute at most, or the request is rejected. */
function isTooOld(id: string, now: Date): boolean {
  const madeAt = timeOfId(id)
  return madeAt !== null && now.getTime() - madeAt.getTime() > flowLimits.assetRecordMs
}

/** Undoes an insert beyond a quota. */
class QuotaReached extends Error {
  readonly facts: QuotaFacts

  constructor(facts: QuotaFacts) {
    super('the quota is reached')
    this.facts = facts
  }
}

/** What was used before an insert that is undone. */
function less(facts: QuotaFacts, bytes: number): QuotaFacts {
  return { ...facts, used: facts.used - (facts.quota === 'assets' ? 1 : bytes) }
}

/** Returns the quota that `more` would exceed, or null. */
async function reachedQuota(
  { quotas }: Pick<Deps, 'quotas'>,
  prisma: Prisma.TransactionClient,
  project: string,
  more: { assets: number; bytes: number },
): Promise<QuotaFacts | null> {
  const row = await prisma.project.findUnique({ where: { id: project }, select: { quotas: true } })
  const used = await prisma.assetUsage.findUnique({ where: { project } })
  const check = (quota: 'assets' | 'assetBytes', used: number, asked: number): QuotaFacts | null => {
    const limit = quotaOf(quota, quotas, (row?.quotas ?? {}) as QuotaValues)
    return used + asked > limit ? quotaFacts(quota, limit, used) : null
  }
  return (
    check('assets', Number(used?.assets ?? 0), more.assets) ?? check('assetBytes', Number(used?.bytes ?? 0), more.bytes)
  )
}

/** Returns the project of the bytes and who uploaded them. The console has already authorized a user. */
async function ownerOf(
  deps: Pick<Deps, 'reads'>,
  caller: AssetRecordQuestion['caller'],
): Promise<{ project: string; key?: string; user?: string; execution?: string; sandbox?: string } | Refused> {
  if ('user' in caller) return caller
  if ('execution' in caller) return findExecution(deps, caller)
  const answer = await readCaller(deps, caller)
  return 'refused' in answer ? answer : { project: answer.project, key: answer.id }
}

async function findExecution(
  { reads }: Pick<Deps, 'reads'>,
  { project, execution }: { project: string; execution: string },
): Promise<{ project: string; execution: string; sandbox: string } | Refused> {
  const row = await reads.prisma.execution.findFirst({ where: { id: execution, project }, select: { sandbox: true } })
  return row ? { project, execution, sandbox: row.sandbox } : refused('execution_not_found', { execution })
}

// How an asset is deleted.
//   D1  A mark in its row deletes it. From then on it cannot be read, and no new call may name it. A repeat is answered
//       as the first time, so that the console audits a deletion whose first answer was lost.
//   D2  An execution that started earlier may still name it, so its bytes stay longer than any execution lasts.
//   D3  Then a service with access to the store removes its bytes, and after that its row. Each step may be repeated:
//       after an interruption the mark is still there, and removing bytes that are gone changes nothing.

/** POST /assets/delete. D1 */
export async function deleteAsset(
  { reads }: Pick<Deps, 'reads'>,
  { project, asset }: RequestOf<'deleteAsset'>,
): Promise<ResponseOf<'deleteAsset'>> {
  const count = await reads.prisma.$executeRaw`
    UPDATE money.assets SET deleted_at = coalesce(deleted_at, now()) WHERE id = ${asset} AND project = ${project}`
  return { deleted: count > 0 }
}

/** POST /assets/to-remove: returns the oldest ones after `after`. D2 */
export async function listAssetsToRemove(
  { reads }: Pick<Deps, 'reads'>,
  { limit, after }: RequestOf<'assetsToRemove'>,
): Promise<ResponseOf<'assetsToRemove'>> {
  const assets = await reads.prisma.$queryRaw<{ id: string; project: string; deletedAt: Date }[]>`
    SELECT id, project, deleted_at AS "deletedAt" FROM money.assets
     WHERE deleted_at < now() - ${flowLimits.deletedAssetMs}::int * interval '1 millisecond'
       AND (deleted_at, id) > (${after?.deletedAt ?? '-infinity'}::timestamptz, ${after?.id ?? ''})
     ORDER BY deleted_at, id LIMIT ${limit}::int`
  return { assets: assets.map(({ deletedAt, ...asset }) => ({ ...asset, deletedAt: deletedAt.toISOString() })) }
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
  takes_images: boolean
  takes_files: boolean
  image_max_bytes: number
  image_max_count: number
  image_https: boolean
}

/**
 * Returns what a chat product accepts and the assets that a call names. Nothing is decided here: the admission
 * decides whether the caller may call the product, and that refusal comes first (rules §2.3).
 */
export async function readAttachments(
  deps: Pick<Deps, 'reads'>,
  { caller, model, assets }: AttachmentQuestion,
): Promise<AttachmentAnswer> {
  const owner = 'keyHash' in caller ? await readCaller(deps, caller) : caller
  if ('refused' in owner) return owner
  const { project } = owner
  const isNew = 'keyHash' in caller // an execution in progress still reads assets deleted since its start (D2)
  const [limits, found] = await Promise.all([
    readLimits(deps, project, model),
    assets.length === 0 ? [] : findAssets(deps, owner, { id: { in: assets }, ...(isNew && { deletedAt: null }) }),
  ])
  return { project, limits, assets: found.map(({ id, mimeType, bytes }) => ({ id, mimeType, bytes })) }
}

async function readLimits({ reads }: Pick<Deps, 'reads'>, project: string, model: string): Promise<AttachmentLimits> {
  const [row] = await reads.prisma.$queryRaw<LimitsRow[]>`
    SELECT p.image_max_bytes, p.image_max_count, p.image_https, p.takes_files,
           p.max_tokens_per_image IS NOT NULL AS takes_images
      FROM money.callable_models p WHERE p.project = ${project} AND p.id = ${model}`
  if (!row) return { images: null, files: false }
  const images = { maxBytes: row.image_max_bytes, maxCount: row.image_max_count, https: row.image_https }
  return { images: row.takes_images ? images : null, files: row.takes_files }
}

/**
 * Returns the assets that a key may read or name in a call: for a `listed` key, not what executions outside its list have
 * made (flows §4.7).
 */
export async function listedAssets<Asset extends { sandbox: string | null }>(
  { prisma }: Pick<Database, 'prisma'>,
  key: string,
  assets: readonly Asset[],
): Promise<Asset[]> {
  const sandboxes = assets.flatMap(({ sandbox }) => sandbox ?? [])
  if (sandboxes.length === 0) return [...assets]
  const rows = await prisma.$queryRaw<{ sandbox: string }[]>`
    SELECT x.sandbox FROM control.keys k
     CROSS JOIN unnest(${sandboxes}::text[]) x (sandbox)
     WHERE k.id = ${key} AND money.unlisted_resource(k.id, k.policy, x.sandbox, '{}') IS NULL`
  const listed = new Set(rows.map(({ sandbox }) => sandbox))
  return assets.filter(({ sandbox }) => sandbox === null || listed.has(sandbox))
}
