import { z } from 'zod'
import { graph as graphShape } from '@gateway/api/graph'
import { newIdempotencyKey } from '../../api/queries.ts'

const localDraft = z.strictObject({ graph: graphShape, baseRevision: z.int().min(0), base: graphShape, at: z.string() })
/** Unsaved changes in this browser and the revision they are based on. `at`: ISO 8601. */
export type LocalDraft = z.infer<typeof localDraft>

type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

const STORED = 'flow-window'

/** Name of this browser window, stable across reloads. A copy of a window starts with the same name. */
export function windowName(): string {
  return sessionStorage.getItem(STORED) ?? newWindowName()
}

export function newWindowName(): string {
  const name = newIdempotencyKey()
  sessionStorage.setItem(STORED, name)
  return name
}

/**
 * Drafts of one flow and one user in this browser, one per window, so that windows do not overwrite each other's
 * drafts. A window without a draft takes over the latest one.
 * @param window name of this window
 */
export function localDrafts(storage: Kept, { user, sandbox, window }: Record<'user' | 'sandbox' | 'window', string>) {
  const start = `flow-draft ${user} ${sandbox} `
  let own = `${start}${window}`
  /** Draft of another window, as it was read. */
  let taken: { key: string; text: string | null } | null = null

  function read(): LocalDraft | null {
    const drafts = keys().flatMap((key) => {
      const text = storage.getItem(key)
      const draft = parsed(text)
      return draft ? [{ key, text, draft }] : []
    })
    const mine = drafts.find(({ key }) => key === own)
    if (mine) return mine.draft
    const [latest] = drafts.toSorted((a, b) => b.draft.at.localeCompare(a.draft.at))
    taken = latest ?? null
    return latest?.draft ?? null
  }
  /** Returns whether the draft could be stored. */
  function keep(draft: LocalDraft): boolean {
    try {
      storage.setItem(own, JSON.stringify(draft))
      dropTaken()
      return true
    } catch {
      return false // storage is full or blocked
    }
  }
  /** Drops a draft that was saved or discarded. */
  function drop(): void {
    storage.removeItem(own)
    dropTaken()
  }
  /** A window that still has what was taken over keeps it again. */
  function dropTaken(): void {
    if (taken && storage.getItem(taken.key) === taken.text) storage.removeItem(taken.key)
    taken = null
  }
  function keys(): string[] {
    const all = Array.from({ length: storage.length }, (_, n) => storage.key(n))
    return all.filter((key) => key !== null).filter((key) => key.startsWith(start))
  }
  return {
    read,
    keep,
    drop,
    isOwn: (key: string | null) => key === own,
    /** Gives this window another name. Its draft under the old one is left to the window that took the name. */
    rename: (window: string) => void (own = `${start}${window}`),
  }
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
