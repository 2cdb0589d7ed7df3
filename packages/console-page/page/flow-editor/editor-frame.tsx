import { useEffect, useRef, useState, useLayoutEffect } from 'react'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { loadAhead } from '../components/loaded-later.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { useTitle } from '../frame/screen.tsx'
import { FlowCanvas } from './canvas/flow-canvas.tsx'
import type { LocalDraft, LocalDrafts } from './data/local-draft.ts'
import { useSaving, type Base } from './data/use-saving.ts'
import { Drawer, type DrawerTab } from './drawer/drawer.tsx'
import { FlowHeader } from './header/flow-header.tsx'
import { ConflictDialog, EdgeRecordView, NodeForm } from './lazy.ts'
import { useShownExecution } from './run/use-shown-execution.ts'
import { useSession, useSelection, type Editor } from './state/open-editor.ts'
import { isTyping } from './is-typing.ts'
import { useStore } from 'zustand'
import { sameJson } from '@gateway/flow/compare/graph-units'
import { useBlocker } from '@tanstack/react-router'
import { Dialog } from '../components/dialog.tsx'
import { several } from '../components/usd.ts'
import { ContractForm } from './inspector/contract-form.tsx'
import { Moment } from '../components/values.tsx'
import { useReactFlow } from '@xyflow/react'
import { addables, matching, type Addable, AddableRow } from './canvas/addable-row.tsx'
import { NODE_WIDTH } from './core/position.ts'
import { insertNode } from './core/connection.ts'

interface Begun {
  drafts: LocalDrafts
  draft: LocalDraft | null
  base: Base
  latest: Base
}

/** Layout of the editor: header, palette, canvas, inspector, and the drawer below. */
export function EditorFrame({ sandbox, first }: { sandbox: SandboxRecord; first: Begun }) {
  const { editor, model } = useSession()
  const saving = useSaving({ editor, sandbox, base: first.base, problems: model.problems })
  const { isUnsaved, isKept } = useLocalDraft(editor, first.drafts, saving.base)
  const [draft, setDraft] = useState(first.draft)
  const shown = useShownExecution(sandbox.id)
  const [tab, setTab] = useState<DrawerTab | null>(
    shown.isOpened ? 'run' : model.problems.length + model.warnings.length > 0 ? 'problems' : null,
  )
  const form = useRef<HTMLDivElement>(null)
  useTitle(sandbox.name, 'Flows')
  useEditorKeys(() => void saving.save())
  useEffect(loadAhead, [])
  // The form renders after the node is selected.
  const openForm = () => setTimeout(() => form.current && focusFirstField(form.current))
  return (
    <div className="flow-editor">
      <FlowHeader saving={saving} isUnsaved={isUnsaved} />
      {draft && isUnsaved && (
        <DraftNotice
          draft={draft}
          latest={first.latest.number}
          onDiscard={() => {
            editor.change(() => first.latest.graph)
            saving.rebase(first.latest)
            first.drafts.drop(draft.graph)
            setDraft(null)
          }}
          onClose={() => setDraft(null)}
        />
      )}
      {(saving.error ?? shown.error) !== null && (
        <div className="flow-message">
          <RefusalBox error={saving.error ?? shown.error} />
        </div>
      )}
      <Palette />
      <FlowCanvas openForm={openForm} />
      <div className="inspector-place" ref={form}>
        <Inspector />
      </div>
      <Drawer tab={tab} onTab={setTab} saving={saving} openForm={openForm} onShowExecution={shown.show} />
      {saving.conflict && (
        <ConflictDialog key={saving.conflict.theirs.number} saving={saving} conflict={saving.conflict} />
      )}
      <LeaveGuard isUnsaved={isUnsaved} isKept={isKept} />
    </div>
  )
}

/** Ctrl+S saves anywhere. Ctrl+Z and Ctrl+Shift+Z undo and redo, except in text fields, which have their own undo. */
function useEditorKeys(save: () => void): void {
  const { editor } = useSession()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return
      const key = event.key.toLowerCase()
      const isHistory = ['z', 'y'].includes(key)
      if (key !== 's' && !(isHistory && !isTyping(event.target))) return
      event.preventDefault()
      if (key === 's') save()
      else if (key === 'y' || event.shiftKey) editor.redo()
      else editor.undo()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [editor, save])
}

const GONE_ON = ['pointerdown', 'keydown'] as const

/**
 * Focuses the first field of a form, also if the form has yet to load. A click or a key press before then cancels this,
 * so that the user keeps the focus.
 */
function focusFirstField(place: HTMLElement): void {
  const field = () => place.querySelector<HTMLElement>('textarea, select') ?? place.querySelector<HTMLElement>('input')
  const there = field()
  if (there) return there.focus()
  const coming = new MutationObserver(() => {
    const come = field()
    if (!come) return
    leave()
    come.focus()
  })
  function leave(): void {
    coming.disconnect()
    for (const event of GONE_ON) removeEventListener(event, leave)
  }
  coming.observe(place, { childList: true, subtree: true })
  for (const event of GONE_ON) addEventListener(event, leave)
}

/**
 * Stores unsaved changes in this browser on every change, so that a reload, a crash or a closed window does not lose
 * them. `isUnsaved`: the graph differs from its base; `isKept`: the browser could store it.
 */
function useLocalDraft(editor: Editor, drafts: LocalDrafts, base: Base): { isUnsaved: boolean; isKept: boolean } {
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

/** Confirms leaving with unsaved changes. The browser confirms closing the page if they could not be stored. */
function LeaveGuard({ isUnsaved, isKept }: { isUnsaved: boolean; isKept: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && current.pathname !== next.pathname,
    enableBeforeUnload: () => isUnsaved && !isKept,
    withResolver: true,
  })
  if (status !== 'blocked') return null
  return (
    <Dialog title="Unsaved changes" onClose={reset}>
      <p>
        {isKept
          ? 'Your changes are kept in this browser until you come back. No one else can see them.'
          : 'This browser could not keep your changes. They are lost if you leave.'}
      </p>
      <div className="buttons">
        <button type="button" className="button main" onClick={reset}>
          Stay
        </button>
        <button type="button" className="button" onClick={proceed}>
          Leave
        </button>
      </div>
    </Dialog>
  )
}

/** Form for the selection. Without a selection, it shows the contract of the flow. */
function Inspector() {
  const { model } = useSession()
  const { selectedNodes, selectedEdges } = useSelection()
  const chosen = model.nodes.filter(({ key }) => selectedNodes.has(key))
  const [only] = chosen
  const edge = selectedEdges.size === 1 ? model.edges.find(({ key }) => selectedEdges.has(key)) : undefined
  return (
    <aside className="flow-inspector" aria-label="Inspector">
      {chosen.length > 1 && (
        <p className="soft">{several(chosen.length, 'node')} selected. Select a single node to edit it.</p>
      )}
      {chosen.length === 1 && <NodeForm key={only!.key} drawn={only!} />}
      {chosen.length === 0 && (
        <div className="stack">
          {edge && <EdgeRecordView key={edge.key} edge={edge.edge} />}
          <p className="soft">
            Select a node to edit it. Without a selection, edit the inputs and outputs of the flow.
          </p>
          <ContractForm side="input" />
          <ContractForm side="output" />
        </div>
      )}
    </aside>
  )
}

/** Says that unsaved changes were restored, and whether another revision has been saved since. */
function DraftNotice({
  draft,
  latest,
  onDiscard,
  onClose,
}: {
  draft: LocalDraft
  latest: number
  onDiscard: () => void
  onClose: () => void
}) {
  return (
    <div className="notice flow-message" role="status">
      <span>
        Restored your unsaved changes from <Moment iso={draft.at} />, based on revision {draft.baseRevision}.
        {draft.baseRevision < latest && ` Revision ${latest} was saved since. When you save, you can merge the two.`}
      </span>
      <span className="buttons">
        <button type="button" className="button small" onClick={onDiscard}>
          Discard
        </button>
        <button type="button" className="button small quiet" onClick={onClose}>
          Keep
        </button>
      </span>
    </div>
  )
}

/** Offset of each added node, in canvas pixels, so that nodes do not cover each other. */
const STEP = 28

/** Nodes that can be added: node kinds, and the products of the project with their prices. */
function Palette() {
  const { editor, model, products, catalogue } = useSession()
  const [typed, setTyped] = useState('')
  const flow = useReactFlow()
  const all = addables(catalogue, new Set(model.nodes.map(({ node }) => node.kind)))
  const found = matching(all, typed)
  const add = (addable: Addable) => {
    const canvas = document.querySelector('.flow-canvas')?.getBoundingClientRect()
    const middle = { x: (canvas?.x ?? 0) + (canvas?.width ?? 0) / 2, y: (canvas?.y ?? 0) + (canvas?.height ?? 0) / 3 }
    const { x, y } = flow.screenToFlowPosition(middle)
    const aside = (editor.store.getState().graph.nodes.length % 8) * STEP
    let id = ''
    editor.change((graph) => {
      const inserted = insertNode(graph, products, addable, { x: x - NODE_WIDTH / 2 + aside, y: y + aside })
      id = inserted.id
      return inserted.graph
    })
    editor.select([id])
  }
  return (
    <nav className="flow-palette" aria-label="Node palette">
      <input
        type="search"
        aria-label="Filter nodes"
        placeholder="Filter"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <ul className="flow-choices">
        {found.map((addable) => (
          <AddableRow key={addable.id} addable={addable} onAdd={add} />
        ))}
      </ul>
      {catalogue.length === 0 && <p className="soft small">No product is assigned to this project.</p>}
    </nav>
  )
}
