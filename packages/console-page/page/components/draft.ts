import { useState } from 'react'

/** Typed text that overlays the saved value of a field. */
export interface Draft {
  /** null if untouched; the field then shows the saved value. */
  typed: string | null
  kept: string
}

/** Draft after the saved value changed. Typed text stays, unless it equals the new saved value. */
export function draftOver(draft: Draft, kept: string): Draft {
  if (draft.kept === kept) return draft
  return { kept, typed: draft.typed === kept ? null : draft.typed }
}

/**
 * Text of a field that overlays the saved value. Remounting the form for each saved value would lose text typed while
 * it was being read.
 */
export function useDraft(kept: string): [text: string, onType: (text: string) => void] {
  const [draft, setDraft] = useState<Draft>({ typed: null, kept })
  const now = draftOver(draft, kept)
  if (now !== draft) setDraft(now)
  return [now.typed ?? kept, (typed) => setDraft({ typed, kept })]
}

/** `useDraft` of a list, which is typed or saved as a whole. */
export function useListDraft<Item extends string | number>(
  kept: readonly Item[],
): [items: Item[], onType: (items: readonly Item[]) => void] {
  const [text, setText] = useDraft(JSON.stringify(kept))
  return [JSON.parse(text) as Item[], (items) => setText(JSON.stringify(items))]
}
