import { useMemo, useState } from 'react'
import { ReactFlowProvider } from '@xyflow/react'
import { useStore } from 'zustand'
import { useMe } from '../api/session.ts'
import { canvasModel } from './core/canvas-model.ts'
import { placed } from './core/first-positions.ts'
import { startingGraph } from './core/starting-graph.ts'
import { productFacts } from './core/product-facts.ts'
import { sameJson } from '@gateway/flow/compare/graph-units'
import { localDrafts } from './data/local-draft.ts'
import type { OpenedFlow } from './data/use-opened-flow.ts'
import type { Base } from './data/use-saving.ts'
import { windowName } from './data/window-name.ts'
import { EditorFrame } from './editor-frame.tsx'
import { RunProvider, openRun } from './run/run-store.ts'
import { SessionProvider } from './session.ts'
import { openEditor } from './state/open-editor.ts'

/** Editor of a flow. Restores unsaved changes from this browser. */
export function FlowEditor({ opened }: { opened: OpenedFlow }) {
  const { id: user } = useMe()
  const [{ sandbox, revision, catalogue }] = useState(opened)
  const products = useMemo(() => productFacts(catalogue), [catalogue])
  const [begun] = useState(() => {
    const drafts = localDrafts(localStorage, { user, sandbox: sandbox.id, window: windowName() })
    const saved: Base = revision
      ? { number: revision.number, graph: revision.graph }
      : { number: 0, graph: startingGraph(catalogue) }
    // Initial positions of nodes without one do not count as unsaved changes.
    const latest = { ...saved, graph: placed(canvasModel(saved.graph, products)) }
    const found = drafts.read()
    const draft = found && !sameJson(found.graph, latest.graph) ? found : null
    const base = draft ? { number: draft.baseRevision, graph: draft.base } : latest
    const editor = openEditor(draft?.graph ?? latest.graph, () => performance.now())
    return { drafts, draft, base, latest, editor, run: openRun() }
  })
  const graph = useStore(begun.editor.store, (state) => state.graph)
  const model = useMemo(() => canvasModel(graph, products), [graph, products])
  const session = useMemo(
    () => ({ editor: begun.editor, model, products, catalogue }),
    [begun, model, products, catalogue],
  )
  return (
    <SessionProvider value={session}>
      <RunProvider value={begun.run}>
        <ReactFlowProvider>
          <EditorFrame sandbox={sandbox} first={begun} />
        </ReactFlowProvider>
      </RunProvider>
    </SessionProvider>
  )
}
