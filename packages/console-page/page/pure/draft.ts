/** What is typed into a field over what the service keeps. */
export interface Draft {
  /** null: nothing, and the field shows what is kept. */
  typed: string | null
  kept: string
}

/** The draft once something else is kept: what was typed stays, except where that is what was saved. */
export function draftOver(draft: Draft, kept: string): Draft {
  if (draft.kept === kept) return draft
  return { kept, typed: draft.typed === kept ? null : draft.typed }
}
