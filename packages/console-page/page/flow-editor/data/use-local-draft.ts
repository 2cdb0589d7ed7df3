import { useLayoutEffect, useState } from 'react'
import { useStore } from 'zustand'
import { sameJson } from '@gateway/flow/compare/graph-units'
import type { Editor } from '../state/open-editor.ts'
import type { LocalDrafts } from './local-draft.ts'
import type { Base } from './use-saving.ts'

/**
 * Stores unsaved changes in this browser on every change, so that a reload, a crash or a closed window does not lose
 * them. `isUnsaved`: the graph differs from its base; `isKept`: the browser could store it.
 */
export function useLocalDraft(
  editor: Editor,
  drafts: LocalDrafts,
  base: Base,
): { isUnsaved: boolean; isKept: boolean } {
  const graph = useStore(editor.store, (state) => state.graph)
  const [isKept, setKept] = useState(true)
  const isUnsaved = graph !== base.graph && !sameJson(graph, base.graph)
  // Store before painting: a user who sees "Unsaved" may close the window immediately.
  useLayoutEffect(() => {
    if (isUnsaved)
      setKept(drafts.keep({ graph, baseRevision: base.number, base: base.graph, at: new Date().toISOString() }))
    else drafts.drop(base.graph)
  }, [drafts, graph, base, isUnsaved])
  return { isUnsaved, isKept }
}
