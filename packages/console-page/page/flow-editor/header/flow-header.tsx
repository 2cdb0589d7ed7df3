import { Link } from '@tanstack/react-router'
import { useStore } from 'zustand'
import { useScope } from '../../api/use-project.ts'
import { Badge } from '../../components/badge.tsx'
import { several } from '../../pure/usd.ts'
import type { useSaving } from '../data/use-saving.ts'
import { ConnectButton } from '../mcp/connect-button.tsx'
import { useSession } from '../session.ts'
import { FileMenu } from './file-menu.tsx'

/** Name, revision and actions of the flow. */
export function FlowHeader({ saving, isUnsaved }: { saving: ReturnType<typeof useSaving>; isUnsaved: boolean }) {
  const { editor, model } = useSession()
  const { tenant, project } = useScope()
  const { sandbox, base, doing } = saving
  const pastSteps = useStore(editor.history, ({ pastStates }) => pastStates.length)
  const nextSteps = useStore(editor.history, ({ futureStates }) => futureStates.length)
  const problems = model.problems.length
  const isActive = !isUnsaved && base.number > 0 && sandbox.activeRevision === base.number
  return (
    <header className="flow-header">
      <nav aria-label="Breadcrumb">
        <Link to="/projects/$tenant/$project/flows" params={{ tenant, project }}>
          Flows
        </Link>
        <h1 tabIndex={-1}>{sandbox.name}</h1>
      </nav>
      <span className="chips">
        {base.number > 0 && <span className="soft">Revision {base.number}</span>}
        {isUnsaved && <Badge tone="warn" text="Unsaved" />}
        {isActive && <Badge tone="good" text="Active" />}
        {sandbox.activeRevision !== null && !isActive && (
          <span className="soft">{sandbox.activeRevision} is active</span>
        )}
        {problems > 0 && <Badge tone="bad" text={several(problems, 'problem')} />}
      </span>
      <div className="buttons">
        <button type="button" className="button small quiet" disabled={pastSteps === 0} onClick={editor.undo}>
          Undo
        </button>
        <button type="button" className="button small quiet" disabled={nextSteps === 0} onClick={editor.redo}>
          Redo
        </button>
        <ConnectButton sandbox={sandbox.id} />
        <FileMenu name={sandbox.name} />
        <button
          type="button"
          className="button small"
          disabled={doing !== null || !(isUnsaved || base.number === 0)}
          onClick={() => void saving.save()}
        >
          {doing === 'save' ? 'Saving…' : problems > 0 ? 'Save as draft' : 'Save'}
        </button>
        <button
          type="button"
          className="button small main"
          disabled={doing !== null || problems > 0 || isActive}
          title={problems > 0 ? 'Fix all problems to activate.' : 'Calls then use this revision.'}
          onClick={() => void saving.activate()}
        >
          {doing === 'activate' ? 'Activating…' : isUnsaved ? 'Save and activate' : 'Activate'}
        </button>
      </div>
    </header>
  )
}
