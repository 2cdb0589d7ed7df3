import { Link } from '@tanstack/react-router'
import { useStore } from 'zustand'
import { useScope } from '../../api/session.ts'
import { Badge } from '../../components/values.tsx'
import { several } from '../../components/usd.ts'
import type { useSaving } from '../data/use-saving.ts'
import { useSession } from '../state/open-editor.ts'
import { useState, useRef } from 'react'
import { McpDialog } from '../lazy.ts'
import { canvasModel } from '../core/canvas-model.ts'
import { placed } from '../core/first-positions.ts'
import { graphText, readGraphText } from '../core/graph-text.ts'
import { Dialog } from '../../components/dialog.tsx'
import { announce } from '../../frame/announcer.ts'

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

/** Opens the dialog that connects an MCP client to the flow. */
function ConnectButton({ sandbox }: { sandbox: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button small quiet" onClick={() => setOpen(true)}>
        Connect client
      </button>
      {isOpen && <McpDialog sandbox={sandbox} onClose={() => setOpen(false)} />}
    </>
  )
}

/** Exports the flow to a file and imports one. An import is one history step. */
function FileMenu({ name }: { name: string }) {
  const { editor, model, products } = useSession()
  const file = useRef<HTMLInputElement>(null)
  const [fault, setFault] = useState<string | null>(null)
  const read = async (chosen: File) => {
    const answer = readGraphText(await chosen.text())
    if ('fault' in answer) return setFault(answer.fault)
    editor.change(() => placed(canvasModel(answer.graph, products)))
    announce(`${chosen.name} imported. Press Ctrl+Z to undo.`)
  }
  return (
    <>
      <button type="button" className="button small quiet" onClick={() => file.current?.click()}>
        Import
      </button>
      <button type="button" className="button small quiet" onClick={() => download(name, graphText(model.graph))}>
        Export
      </button>
      <input
        ref={file}
        type="file"
        accept="application/json,.json"
        hidden
        aria-label="Flow file"
        onChange={({ target }) => {
          const [chosen] = target.files ?? []
          target.value = ''
          if (chosen) void read(chosen)
        }}
      />
      {fault !== null && (
        <Dialog title="Not a flow file" onClose={() => setFault(null)}>
          <p>{fault}</p>
          <div className="buttons">
            <button type="button" className="button" onClick={() => setFault(null)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `${name.replaceAll(/[^\w-]+/g, '-').toLowerCase() || 'flow'}.flow.json`
  link.click()
  URL.revokeObjectURL(address)
}
