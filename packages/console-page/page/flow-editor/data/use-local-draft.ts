import { useLayoutEffect, useState } from 'react'
import { useStore } from 'zustand'
import { sameJson } from '@gateway/flow/compare/graph-units'
import type { Editor } from '../state/open-editor.ts'
import type { LocalDrafts } from './local-draft.ts'
import type { Base } from './use-saving.ts'

/**
 * Keeps what is not saved in this browser with every change, so that no reload, crash or closed window loses it.
 * `isUnsaved`: it differs from its base; `isKept`: whether the browser could keep it.
 */
export function useLocalDraft(
  editor: Editor,
  drafts: LocalDrafts,
  base: Base,
): { isUnsaved: boolean; isKept: boolean } {
  const graph = useStore(editor.store, (state) => state.graph)
  const [isKept, setKept] = useState(true)
  const isUnsaved = graph !== base.graph && !sameJson(graph, base.graph)
  // Before anything is painted: anyone who reads that something is unsaved may close the window at once.
  useLayoutEffect(() => {
    if (isUnsaved)
      setKept(drafts.keep({ graph, baseRevision: base.number, base: base.graph, at: new Date().toISOString() }))
    else drafts.drop(base.graph)
  }, [drafts, graph, base, isUnsaved])
  return { isUnsaved, isKept }
}
