import type { ConsoleDeps } from '../deps.ts'

const AT_ONCE = 100

/**
 * Removes the bytes of assets that were deleted long enough ago, some at a time. Any number of replicas may do it at once, and be
 * killed in it: bytes that are gone are removed again, which changes nothing. Answers how many are gone; one whose bytes can't be
 * removed now is left for later.
 */
export async function removeDeleted({
  ledger,
  assetStore,
  log,
}: Pick<ConsoleDeps, 'ledger' | 'assetStore' | 'log'>): Promise<number> {
  const { assets } = await ledger.assetsToRemove({ limit: AT_ONCE })
  const ids: string[] = []
  for (const { id, project } of assets) {
    const failure = await assetStore.remove(project, id).then(
      () => null,
      (error: unknown) => error,
    )
    if (failure === null) ids.push(id)
    else log.warn({ err: failure, asset: id }, 'a deleted asset was not removed; it is tried again')
  }
  if (ids.length > 0) await ledger.assetsRemoved({ ids })
  return ids.length
}
