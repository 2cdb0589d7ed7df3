import { z } from 'zod'
import { graph as graphShape } from '@gateway/api/graph'
import { sameJson } from '@gateway/flow/compare/graph-units'

const localDraft = z.strictObject({ graph: graphShape, baseRevision: z.int().min(0), base: graphShape, at: z.string() })
/** Unsaved changes in this browser and the revision they are based on. `at`: ISO 8601. */
export type LocalDraft = z.infer<typeof localDraft>

type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/**
 * Drafts of one flow and one user in this browser, one per window, so that windows do not overwrite each other's
 * drafts. A window without a draft takes the latest one.
 * @param window name of this window, stable across reloads
 */
export function localDrafts(storage: Kept, { user, sandbox, window }: Record<'user' | 'sandbox' | 'window', string>) {
  const start = `flow-draft ${user} ${sandbox} `
  const own = `${start}${window}`

  function read(): LocalDraft | null {
    const drafts = keys().flatMap((key) => {
      const draft = parsed(storage.getItem(key))
      return draft ? [{ key, draft }] : []
    })
    const mine = drafts.find(({ key }) => key === own)
    return (mine ?? drafts.toSorted((a, b) => b.draft.at.localeCompare(a.draft.at))[0])?.draft ?? null
  }
  /** Returns whether the draft could be stored. */
  function keep(draft: LocalDraft): boolean {
    try {
      storage.setItem(own, JSON.stringify(draft))
      return true
    } catch {
      return false // storage is full or blocked
    }
  }
  /** Drops a draft that was saved or discarded, and identical drafts of other windows. Different drafts are kept. */
  function drop(graph: LocalDraft['graph']): void {
    storage.removeItem(own)
    for (const key of keys()) if (sameJson(parsed(storage.getItem(key))?.graph, graph)) storage.removeItem(key)
  }
  function keys(): string[] {
    const all = Array.from({ length: storage.length }, (_, n) => storage.key(n))
    return all.filter((key) => key !== null).filter((key) => key.startsWith(start))
  }
  return { read, keep, drop }
}
export type LocalDrafts = ReturnType<typeof localDrafts>

function parsed(text: string | null): LocalDraft | null {
  try {
    const read = localDraft.safeParse(JSON.parse(text ?? ''))
    return read.success ? read.data : null
  } catch {
    return null
  }
}
