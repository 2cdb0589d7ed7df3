import type { ConsoleDeps } from '../deps.ts'

const EVERY_MS = 60_000
const AT_ONCE = 100

type Deps = Pick<ConsoleDeps, 'ledger' | 'assetStore' | 'log'>

/**
 * Removes the bytes of assets that were deleted long enough ago, again and again, until it is stopped. Any number of replicas may do
 * it at once, and be killed in it: bytes that are gone are removed again, which changes nothing.
 */
export function keepRemovingDeleted(deps: Deps, everyMs = EVERY_MS): () => Promise<void> {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  function next(afterMs: number): void {
    if (stopped) return
    timer = setTimeout(() => {
      running = removeDeleted(deps)
        .catch(
          (error: unknown) => (deps.log.warn({ err: error }, 'deleted assets were not removed; it tries again'), 0),
        )
        .then((removed) => next(removed === AT_ONCE ? 0 : everyMs))
    }, afterMs)
    timer.unref()
  }

  next(everyMs)
  return async () => {
    stopped = true
    clearTimeout(timer)
    await running
  }
}

/** Answers how many are gone. One whose bytes can't be removed now is left for later. */
export async function removeDeleted({ ledger, assetStore, log }: Deps): Promise<number> {
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
