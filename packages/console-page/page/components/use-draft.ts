import { useState } from 'react'
import { draftOver, type Draft } from '../pure/draft.ts'

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
