import { AssetStoreUnavailable } from '@gateway/assets/asset-failures'
import { declaredType } from '@gateway/assets/declared-type'
import { storeBody } from '@gateway/assets/store-body'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { flowLimits } from '@gateway/contracts/limits'
import { refuse } from '@gateway/contracts/refusal'
import { refuseUnread } from '@gateway/service-kit/http/read-body'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { assetRecord } from './assets.ts'
import { reachAssetsOf } from './reach-asset.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'assetStore' | 'newId'>

/** POST …/projects/{p}/assets: raw bytes in. They are the project's once the ledger has them on its books. */
export function uploadAsset(deps: Deps): Handler<'uploadAsset'> {
  return async (call, res) => {
    const { person, tenant, project } = await reachAssetsOf(deps, call, res)
    const declared = declaredType(call.req)
    refuseUnread(call.req, flowLimits.assetBytes)
    const id = deps.newId('ast')
    const stored = await storeBody(deps.assetStore, call.req, { project, id, declared }).catch((error: unknown) => {
      throw error instanceof AssetStoreUnavailable ? refuse('unavailable', {}) : error
    })
    const question = { id, caller: { project, person: person.id }, ...stored }
    const answer = await deps.ledger.recordAsset(question).catch(async (error: unknown) => {
      await deps.assetStore.remove(project, id).catch(() => {}) // no record names them
      throw error
    })
    if ('refused' in answer) throw refusalFor(answer.refused, 'console')
    const what = { action: 'asset.create', subject: project, details: { asset: id } }
    await recordChange(deps.prisma, { tenant, person: person.id, ...what })
    const row = await deps.prisma.asset.findUniqueOrThrow({ where: { id } })
    res.status(201).json(assetRecord({ ...row, createdBy: row.person }))
  }
}
