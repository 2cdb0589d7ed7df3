import { timeOfId } from '@gateway/api/ids'
import { flowLimits } from '@gateway/api/limits'
import type { StoredName } from '@gateway/assets/asset-store'
import type { ConsoleDeps } from '../deps.ts'
import { removeBytes } from './assets.ts'

// Bytes that were stored but never recorded, because the process that stored them ended before the ledger answered.
//   U1  Bytes of an asset are never removed. An ID names one upload and is not used again. The ledger records no ID that
//       is older than `assetRecordMs` (Q4 of services/ledger/src/assets/assets.ts). Only IDs of twice that age are looked
//       up here, so every transaction that could record them has ended, also if clocks differ.
//   U2  A row keeps its bytes in every state, also while it is marked as deleted: those are removed by `removeDeleted`.
//   U3  Only names that this database can have given are removed: an ID of ours, in a project that has or had a wallet
//       here, without which nothing is stored, and older than the newest asset here. A copy of the database, restored to
//       look at it, knows nothing of what its original stored later. The rest of a shared bucket or folder belongs to
//       others.
//   U4  A run tries a bounded number and the next is a day later, so a database that was restored by mistake loses little
//       before the log is read. Each part is logged once it is removed. Memory holds one page of the list.

const MIN_AGE_MS = 2 * flowLimits.assetRecordMs
const MAX_TRIED = 1_000
/** Removed one after the other before the run looks whether the console stops. */
const PART = 20

/**
 * Removes such bytes and returns their number. Any number of replicas may run this concurrently and be killed meanwhile.
 * @throws AssetStoreUnavailable if the store can't be listed. What was removed until then stays removed.
 */
export async function removeUnrecorded(
  deps: Pick<ConsoleDeps, 'prisma' | 'assetStore' | 'log' | 'stopping'>,
  { maxTried = MAX_TRIED }: { maxTried?: number } = {},
): Promise<number> {
  const newest = await deps.prisma.asset.findFirst({ orderBy: { id: 'desc' }, select: { createdAt: true } })
  if (newest === null) return 0 // U3
  let [tried, removed] = [0, 0]
  for await (const page of deps.assetStore.list()) {
    const unrecorded = await findUnrecorded(deps, page, newest.createdAt)
    for (let from = 0; from < unrecorded.length; from += PART) {
      const part = unrecorded.slice(from, from + Math.min(PART, maxTried - tried)) // U4
      if (deps.stopping.aborted || part.length === 0) return removed
      const ids = await removeBytes(deps, part)
      if (ids.length > 0) deps.log.info({ assets: ids }, 'stored bytes that were never recorded are removed')
      tried += part.length
      removed += ids.length
    }
    if (deps.stopping.aborted || tried >= maxTried) return removed
  }
  return removed
}

async function findUnrecorded({ prisma }: Pick<ConsoleDeps, 'prisma'>, page: readonly StoredName[], newest: Date) {
  const names = page.flatMap(({ project, id }) => {
    const madeAt = timeOfId(id)
    return madeAt === null ? [] : { project, id, madeAt }
  })
  return prisma.$queryRaw<StoredName[]>`
    SELECT n.project, n.id
      FROM unnest(
             ${names.map(({ project }) => project)}::text[],
             ${names.map(({ id }) => id)}::text[],
             ${names.map(({ madeAt }) => madeAt)}::timestamptz[]) n (project, id, made_at)
     WHERE n.made_at < now() - ${MIN_AGE_MS}::int * interval '1 millisecond' -- U1
       AND NOT EXISTS (SELECT FROM money.assets a WHERE a.id = n.id) -- U2
       AND n.made_at < ${newest}::timestamptz -- U3
       AND EXISTS (SELECT FROM money.wallets w WHERE w.project = n.project) -- U3`
}
