import { useRef, useState, type AriaAttributes, type Ref } from 'react'
import { Link } from '@tanstack/react-router'
import { Ellipsis, PanelBottom, PanelLeft, PanelRight, Redo2, Undo2, type LucideIcon } from 'lucide-react'
import { useStore } from 'zustand'
import { useScope } from '../../api/session.ts'
import { Badge } from '../../components/values.tsx'
import { several } from '../../components/usd.ts'
import { useHeadingFocus } from '../../frame/screen.tsx'
import type { useSaving } from '../data/use-saving.ts'
import type { Panels } from '../editor-panels.tsx'
import { FlowTools } from '../lazy.ts'
import { useSession } from '../state/open-editor.ts'

/** Name, revision and actions of the flow. */
export function FlowHeader({
  saving,
  isUnsaved,
  panels,
}: {
  saving: ReturnType<typeof useSaving>
  isUnsaved: boolean
  panels: Panels
}) {
  const { editor, model } = useSession()
  const { tenant, project } = useScope()
  const { sandbox, base, doing } = saving
  const pastSteps = useStore(editor.history, ({ pastStates }) => pastStates.length)
  const nextSteps = useStore(editor.history, ({ futureStates }) => futureStates.length)
  const header = useRef<HTMLElement>(null)
  const heading = useHeadingFocus()
  const more = useRef<HTMLButtonElement>(null)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const problems = model.problems.length
  const isActive = !isUnsaved && base.number > 0 && sandbox.activeRevision === base.number
  // A button keeps the focus, which a disabled one loses.
  const canSave = doing === null && (isUnsaved || base.number === 0)
  const canActivate = doing === null && problems === 0 && !isActive
  return (
    <header className="flow-header" ref={header}>
      <nav aria-label="Breadcrumb">
        <Link to="/projects/$tenant/$project/flows" params={{ tenant, project }}>
          Flows
        </Link>
        <h1 ref={heading} tabIndex={-1}>
          {sandbox.name}
        </h1>
      </nav>
      {isUnsaved && (
        <span className="unsaved">
          <span aria-hidden="true">●</span> <span>Unsaved</span>
        </span>
      )}
      <span className="chips">
        {base.number > 0 && <span className="soft">Revision {base.number}</span>}
        {isActive && <Badge tone="good" text="Active" />}
        {sandbox.activeRevision !== null && !isActive && (
          <span className="soft">{sandbox.activeRevision} is active</span>
        )}
        {problems > 0 && <Badge tone="bad" text={several(problems, 'problem')} />}
      </span>
      <div className="buttons">
        <span className="panel-buttons">
          {panelButtons.map(({ name, title, keys, drawn }) => (
            <IconButton
              key={name}
              title={title}
              keys={keys}
              drawn={drawn}
              aria-expanded={panels.open[name]}
              onClick={() => panels.set(name, !panels.open[name])}
            />
          ))}
        </span>
        <IconButton title="Undo" keys="Ctrl Z" drawn={Undo2} isOff={pastSteps === 0} onClick={editor.undo} />
        <IconButton title="Redo" keys="Ctrl Shift Z" drawn={Redo2} isOff={nextSteps === 0} onClick={editor.redo} />
        <IconButton
          ref={more}
          title="More actions"
          drawn={Ellipsis}
          aria-haspopup="menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(true)}
        />
        <button
          type="button"
          className="button small"
          aria-disabled={!canSave}
          onClick={() => canSave && void saving.save()}
        >
          {doing === 'save' ? 'Saving…' : <>Save{problems > 0 && <span className="long"> as draft</span>}</>}
        </button>
        <button
          type="button"
          className="button small main"
          aria-disabled={!canActivate}
          title={problems > 0 ? 'Fix all problems to activate.' : 'Calls then use this revision.'}
          onClick={() => canActivate && void saving.activate()}
        >
          {doing === 'activate' ? (
            'Activating…'
          ) : isUnsaved ? (
            <>
              <span className="long">Save and activate</span>
              <span className="short" aria-hidden="true">
                Activate
              </span>
            </>
          ) : (
            'Activate'
          )}
        </button>
      </div>
      <FlowTools saving={saving} header={header} button={more} isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} />
    </header>
  )
}

const panelButtons = [
  { name: 'palette', title: 'Node palette', keys: 'Ctrl B', drawn: PanelLeft },
  { name: 'drawer', title: 'Details', keys: 'Ctrl J', drawn: PanelBottom },
  { name: 'inspector', title: 'Inspector', keys: 'Ctrl I', drawn: PanelRight },
] as const

interface IconButtonProps extends AriaAttributes {
  title: string
  keys?: string
  drawn: LucideIcon
  /** It stays in the tab order, so that the focus is not lost with the last step. */
  isOff?: boolean
  ref?: Ref<HTMLButtonElement>
  onClick: () => void
}

/** Button with an icon. Its tooltip names it, with the keys that do the same. */
function IconButton({ title, keys = '', drawn: Drawn, isOff = false, onClick, ...others }: IconButtonProps) {
  return (
    <button
      {...others}
      type="button"
      className="button small quiet icon-only"
      aria-label={title}
      aria-disabled={isOff || undefined}
      data-tip={keys}
      onClick={() => !isOff && onClick()}
    >
      <Drawn className="icon" aria-hidden="true" focusable="false" />
    </button>
  )
}
