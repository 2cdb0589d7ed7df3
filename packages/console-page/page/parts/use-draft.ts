import { useState } from 'react'
import { draftOver, type Draft } from '../pure/draft.ts'

/**
 * The text of a field over what the service keeps. A form that would be mounted again for each value that is kept loses what was
 * typed while that was read.
 */
export function useDraft(kept: string): [text: string, onType: (text: string) => void] {
  const [draft, setDraft] = useState<Draft>({ typed: null, kept })
  const now = draftOver(draft, kept)
  if (now !== draft) setDraft(now)
  return [now.typed ?? kept, (typed) => setDraft({ typed, kept })]
}
