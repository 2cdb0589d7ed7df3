import { useEffect, useRef, useState } from 'react'
import type { SandboxRecord } from '@gateway/api/console/sandboxes'
import { loadAhead } from '../components/loaded-later.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { useTitle } from '../frame/use-title.ts'
import { FlowCanvas } from './canvas/flow-canvas.tsx'
import type { LocalDraft, LocalDrafts } from './data/local-draft.ts'
import { useLocalDraft } from './data/use-local-draft.ts'
import { useSaving, type Base } from './data/use-saving.ts'
import { Drawer, type DrawerTab } from './drawer/drawer.tsx'
import { DraftNotice } from './header/draft-notice.tsx'
import { FlowHeader } from './header/flow-header.tsx'
import { LeaveGuard } from './header/leave-guard.tsx'
import { focusFirstField } from './inspector/focus-first-field.ts'
import { Inspector } from './inspector/inspector.tsx'
import { ConflictDialog } from './lazy.ts'
import { Palette } from './palette.tsx'
import { useShownExecution } from './run/use-shown-execution.ts'
import { useSession } from './session.ts'
import { useEditorKeys } from './use-editor-keys.ts'

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
