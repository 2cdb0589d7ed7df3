import { AssetMissing, AssetStoreUnavailable } from '@gateway/assets/asset-failures'
import { sendAsset } from '@gateway/assets/send-asset'
import type { StoredAssetRecord } from '@gateway/contracts/console/assets'
import { refuse } from '@gateway/contracts/refusal'
import { Prisma } from '@gateway/database/client'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { behind, equal, foundRows, inPeriod, pageOfFound, type FoundRow, type Order } from '../request/found-rows.ts'
import { readTimeCursor } from '../request/page.ts'
import { reachAsset, reachAssetsOf } from './reach-asset.ts'

type AssetRow = Omit<StoredAssetRecord, 'createdAt'> & { createdAt: Date }

const order: Order = { at: Prisma.sql`a.created_at`, id: Prisma.sql`a.id` }
const columns = Prisma.sql`
  a.id, a.mime_type AS "mimeType", a.bytes, a.created_at AS "createdAt", a.execution, a.key, a.person AS "createdBy"`

/** GET …/projects/{p}/assets: newest first, whoever made them. */
export function listAssets(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'listAssets'> {
  return async (call, res) => {
    const { project } = await reachAssetsOf(deps, call, res)
    const { cursor, limit, execution, ...period } = call.query()
    const place = cursor === undefined ? null : readTimeCursor(cursor, /^ast_/)
    const along = Prisma.sql`
      a.project = ${project} AND a.deleted_at IS NULL ${inPeriod(order.at, period)} ${behind(order, place)}`
    const fits = Prisma.sql`(true ${equal([[Prisma.sql`a.execution`, execution]])})`
    const found = foundRows({ ...order, table: Prisma.sql`money.assets`, along, fits, columns }, limit)
    const rows = await deps.prisma.$queryRaw<(AssetRow & FoundRow)[]>(found)
    res.json(pageOfFound(rows, limit, assetRecord, ({ createdAt: at, id }) => ({ at, id })))
  }
}

/** How a browser shows what an asset is and lets it do nothing: no script runs in it, and nothing is fetched for it. */
const INERT = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox"

/** GET …/assets/{a}: the bytes, or a part of them; opened by its address, an image or a sound is shown. */
export function readAsset(deps: Pick<ConsoleDeps, 'prisma' | 'assetStore'>): Handler<'readAsset'> {
  return async (call, res) => {
    const { asset } = await reachAsset(deps, call, res)
    const name = `${asset.id}.${asset.mimeType.split('/')[1]}`
    const headers = { 'Content-Disposition': `inline; filename="${name}"`, 'Content-Security-Policy': INERT }
    try {
      await sendAsset(deps, call.req, res, asset, headers)
    } catch (error) {
      if (error instanceof AssetMissing) throw refuse('asset_not_found', { asset: asset.id })
      throw error instanceof AssetStoreUnavailable ? refuse('unavailable', {}) : error
    }
  }
}

/** DELETE …/assets/{a}: what is under way keeps its bytes for as long as it may last (services/ledger/src/assets/delete-asset.ts). */
export function deleteAsset(deps: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'deleteAsset'> {
  return async (call, res) => {
    const { person, tenant, asset } = await reachAsset(deps, call, res)
    const { deleted } = await deps.ledger.deleteAsset({ project: asset.project, asset: asset.id })
    if (!deleted) throw refuse('asset_not_found', { asset: asset.id })
    const what = { action: 'asset.delete', subject: asset.project, details: { asset: asset.id } }
    await recordChange(deps.prisma, { tenant, person: person.id, ...what })
    res.status(204).end()
  }
}

export function assetRecord({
  id,
  mimeType,
  bytes,
  createdAt,
  execution,
  key,
  createdBy,
}: AssetRow): StoredAssetRecord {
  return { id, mimeType, bytes, createdAt: createdAt.toISOString(), execution, key, createdBy }
}
