import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { loadAhead } from '../components/loaded-later.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { useTitle } from '../frame/screen.tsx'
import { FlowCanvas } from './canvas/flow-canvas.tsx'
import { Palette } from './palette/palette.tsx'
import { newWindowName, type LocalDraft, type LocalDrafts } from './data/local-draft.ts'
import { useSaving } from './data/use-saving.ts'
import { Drawer, type DrawerTab } from './drawer/drawer.tsx'
import { FlowHeader } from './header/flow-header.tsx'
import { ConflictDialog, ContractForm, EdgeRecordView, ExecutionBanner, NodeForm } from './lazy.ts'
import { useRunStore } from './run/run-store.ts'
import { useShownExecution } from './run/use-shown-execution.ts'
import { useSession, useSelection, type Base, type Editor } from './state/open-editor.ts'
import { isTyping } from './is-typing.ts'
import { useStore } from 'zustand'
import { sameJson } from '@gateway/flow/compare/graph-units'
import { LeaveGuard, topDialog } from '../components/dialog.tsx'
import { several } from '../components/usd.ts'
import { Moment } from '../components/values.tsx'
import { EditorPanels, usePanels, type Panels } from './editor-panels.tsx'

interface Begun {
  drafts: LocalDrafts
  draft: LocalDraft | null
  base: Base
  latest: Base
}

/** Layout of the editor: header, palette, canvas, inspector, and the drawer below. */
export function EditorFrame({ sandbox, first }: { sandbox: SandboxRecord; first: Begun }) {
  const { editor, model } = useSession()
  const saving = useSaving({ editor, sandbox, problems: model.problems })
  const { isUnsaved, isKept } = useLocalDraft(editor, first.drafts, saving.base)
  const isHalfWritten = useStore(editor.typedJson, ({ typed }) => typed !== null && typed.fault !== null)
  const isHeld = useStore(editor.heldTexts, (texts) =>
    model.nodes.some(({ key }) => Object.keys(texts[key] ?? {}).length > 0),
  )
  const isLost = isHalfWritten || isHeld || (isUnsaved && !isKept)
  const [draft, setDraft] = useState(first.draft)
  const shown = useShownExecution(sandbox.id)
  const opened = useStore(useRunStore(), ({ opened, isRunning, executionId }) =>
    isRunning && executionId === null ? null : opened,
  )
  const hasProblems = model.problems.length + model.warnings.length > 0
  const [tab, setTab] = useState<DrawerTab>(shown.isOpened ? 'run' : 'problems')
  const panels = usePanels(shown.isOpened || hasProblems ? { drawer: true } : {})
  const form = useRef<HTMLDivElement>(null)
  useTitle(sandbox.name, 'Flows')
  useEditorKeys(() => void saving.save(), panels)
  useEffect(loadAhead, [])
  const openForm = () => {
    panels.set('inspector', true)
    // The form renders after the node is selected.
    setTimeout(() => form.current && focusFirstField(form.current))
  }
  const openTab = (chosen: DrawerTab | null) => {
    if (chosen !== null) setTab(chosen)
    panels.set('drawer', chosen !== null)
  }
  return (
    <div className="flow-editor">
      <FlowHeader saving={saving} isUnsaved={isUnsaved} panels={panels} />
      {draft && isUnsaved && saving.base === first.base && (
        <DraftNotice
          draft={draft}
          latest={first.latest.number}
          onDiscard={() => {
            editor.rebase(first.latest.graph, first.latest)
            editor.select([]) // the form of a node shows what it holds
            editor.heldTexts.setState({}, true)
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
      <EditorPanels
        panels={panels}
        palette={<Palette />}
        canvas={
          <div className="canvas-place">
            {opened && (
              <ExecutionBanner
                opened={opened}
                revision={isUnsaved ? null : saving.base.number}
                onClose={shown.close}
                onInputs={() => openTab('run')}
              />
            )}
            <FlowCanvas openForm={openForm} />
          </div>
        }
        inspector={
          <div className="inspector-place" ref={form}>
            <Inspector />
          </div>
        }
        drawer={
          <Drawer
            tab={panels.open.drawer ? tab : null}
            onTab={openTab}
            saving={saving}
            openForm={openForm}
            onShowExecution={shown.show}
          />
        }
      />
      {saving.conflict && <ConflictDialog key={saving.conflict.number} saving={saving} theirs={saving.conflict} />}
      <LeaveGuard isUnsaved={isUnsaved || isLost} isLost={isLost}>
        {isHalfWritten && 'The text under JSON is not part of the flow yet. It is lost if you leave. '}
        {isHeld && 'A field of a node has text that is not part of the flow yet. It is lost if you leave. '}
        {isUnsaved &&
          (isKept
            ? 'Your changes are kept in this browser until you come back. No one else can see them.'
            : 'This browser could not keep your changes. They are lost if you leave.')}
      </LeaveGuard>
    </div>
  )
}

const panelKeys = new Map([
  ['b', 'palette'],
  ['j', 'drawer'],
  ['i', 'inspector'],
] as const)

/**
 * Ctrl+S saves anywhere, and Ctrl+B, Ctrl+J and Ctrl+I open and close the panels. Ctrl+Z and Ctrl+Shift+Z undo and
 * redo, except in text fields, which have their own undo, and under dialogs.
 */
function useEditorKeys(save: () => void, panels: Panels): void {
  const { editor } = useSession()
  const latest = useRef({ save, panels })
  useEffect(() => {
    latest.current = { save, panels }
  })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return
      const key = event.key.toLowerCase()
      const panel = event.shiftKey ? undefined : panelKeys.get(key as 'b')
      const isHistory = ['z', 'y'].includes(key) && !isTyping(event.target) && topDialog() === null
      if (key !== 's' && !panel && !isHistory) return
      event.preventDefault()
      const { save, panels } = latest.current
      if (panel) panels.set(panel, !panels.open[panel])
      else if (key === 's') save()
      else if (key === 'y' || event.shiftKey) editor.redo()
      else editor.undo()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [editor])
}

const GONE_ON = ['pointerdown', 'keydown'] as const

/**
 * Focuses the first field of a form, also if the form has yet to load. A click or a key press before then cancels this,
 * so that the user keeps the focus.
 */
function focusFirstField(place: HTMLElement): void {
  const field = () =>
    place.querySelector<HTMLElement>('textarea, .code-editor, select') ?? place.querySelector<HTMLElement>('input')
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
  const [lost, setLost] = useState(0)
  useEffect(() => {
    const onStorage = ({ key, newValue }: StorageEvent) => {
      if (!drafts.isOwn(key)) return
      if (newValue !== null) drafts.rename(newWindowName()) // the window was copied, and its name with it
      setLost((before) => before + 1)
    }
    addEventListener('storage', onStorage)
    return () => removeEventListener('storage', onStorage)
  }, [drafts])
  // Store before painting: a user who sees "Unsaved" may close the window immediately.
  useLayoutEffect(() => {
    if (isUnsaved)
      setKept(drafts.keep({ graph, baseRevision: base.number, base: base.graph, at: new Date().toISOString() }))
    else drafts.drop()
  }, [drafts, graph, base, isUnsaved, lost])
  return { isUnsaved, isKept }
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
      {/* Keyed by position, so that renaming a node keeps its form mounted. */}
      {chosen.length === 1 && <NodeForm key={model.nodes.indexOf(only!)} drawn={only!} />}
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
