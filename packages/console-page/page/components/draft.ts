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

/** What a form sends that is saved as a whole: its changes to what it began with, over what is stored now. */
export function changesOver<Fields extends object>(latest: Fields, began: Fields, typed: Fields): Fields {
  return { ...latest, ...changedOf(began, typed) }
}

/** Fields that differ from those before. */
export function changedOf<Fields extends object>(before: Partial<Fields>, after: Fields): Partial<Fields> {
  const isSame = (name: keyof Fields) => JSON.stringify(before[name]) === JSON.stringify(after[name])
  const changed = Object.entries(after).filter(([name]) => !isSame(name as keyof Fields))
  return Object.fromEntries(changed) as Partial<Fields>
}
