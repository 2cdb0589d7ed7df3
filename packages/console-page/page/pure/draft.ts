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
