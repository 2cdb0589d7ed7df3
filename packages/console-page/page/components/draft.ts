import { useState } from 'react'

/** Typed text that overlays the saved value of a field. */
export interface Draft {
  /** null if untouched; the field then shows the saved value. */
  typed: string | null
  kept: string
}

/** Draft after text was typed or the saved value changed. A field whose text equals the saved value is untouched. */
export function draftOver({ typed }: Draft, kept: string): Draft {
  return { kept, typed: typed === kept ? null : typed }
}

/**
 * Text of a field that overlays the saved value. Remounting the form for each saved value would lose text typed while
 * it was being read.
 */
export function useDraft(kept: string): [text: string, onType: (text: string) => void] {
  const [draft, setDraft] = useState<Draft>({ typed: null, kept })
  if (draft.kept !== kept) setDraft(draftOver(draft, kept))
  return [draft.typed ?? kept, (typed) => setDraft(draftOver({ typed, kept }, kept))]
}

/** `useDraft` of a list without duplicates, which is typed or saved as a whole. Its order does not count. */
export function useListDraft<Item extends string | number>(
  kept: readonly Item[],
): [items: Item[], onType: (items: readonly Item[]) => void] {
  const [text, setText] = useDraft(JSON.stringify(kept))
  const isKept = (items: readonly Item[]) => items.length === kept.length && items.every((item) => kept.includes(item))
  return [JSON.parse(text) as Item[], (items) => setText(JSON.stringify(isKept(items) ? kept : items))]
}
