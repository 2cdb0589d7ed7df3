import { z } from 'zod'
import { graph as graphShape } from '@gateway/api/graph'
import { sameJson } from '@gateway/flow/compare/graph-units'

const localDraft = z.strictObject({ graph: graphShape, baseRevision: z.int().min(0), base: graphShape, at: z.string() })
/** What was changed in this browser and not saved yet, and what it was made of. `at`: ISO 8601. */
export type LocalDraft = z.infer<typeof localDraft>

type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

/**
 * Drafts of one flow of one user in this browser, one for each window: two windows do not overwrite each other's. A window that
 * has none takes up the newest that is left.
 * @param window names this window, also after a reload
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
  /** Answers whether it could be kept. */
  function keep(draft: LocalDraft): boolean {
    try {
      storage.setItem(own, JSON.stringify(draft))
      return true
    } catch {
      return false // full, or barred
    }
  }
  /** Once it is saved or given up: with the same in other windows, and not with what they have as well. */
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
