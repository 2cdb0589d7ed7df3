import { useEffect, useRef, useState, type RefObject } from 'react'
import { Menu } from '@base-ui/react/menu'
import { Tooltip } from '@base-ui/react/tooltip'
import { useNavigate } from '@tanstack/react-router'
import { Cable, Copy, Download, Pencil, Upload } from 'lucide-react'
import { ask } from '../../api/ask.ts'
import { newIdempotencyKey } from '../../api/queries.ts'
import { useScope } from '../../api/session.ts'
import { CreateNamedDialog, Dialog, FormDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { useChange } from '../../api/queries.ts'
import { announce } from '../../frame/announcer.ts'
import { canvasModel } from '../core/canvas-model.ts'
import { placed } from '../core/placement.ts'
import { graphText, readGraphText } from '../core/graph-text.ts'
import type { useSaving } from '../data/use-saving.ts'
import { McpDialog } from '../lazy.ts'
import { useSession } from '../state/open-editor.ts'

type Saving = ReturnType<typeof useSaving>
type Task = 'connect' | 'rename' | 'duplicate'

/** The rare commands of a flow in a menu, their dialogs, and the tooltips of the header. */
export function FlowTools({
  saving,
  header,
  button,
  isOpen,
  onClose,
}: {
  saving: Saving
  header: RefObject<HTMLElement | null>
  /** Button that the menu belongs to. */
  button: RefObject<HTMLButtonElement | null>
  isOpen: boolean
  onClose: () => void
}) {
  const { model } = useSession()
  const [task, setTask] = useState<Task | null>(null)
  const file = useRef<HTMLInputElement>(null)
  const { sandbox } = saving
  const close = () => setTask(null)
  return (
    <>
      <Tips header={header} isQuiet={isOpen} />
      <Menu.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
        <Menu.Portal>
          <Menu.Positioner anchor={button} align="end" sideOffset={4} className="flow-menu-place">
            <Menu.Popup className="flow-menu" finalFocus={button} aria-label="More actions">
              <Menu.Item onClick={() => setTask('rename')}>
                <Pencil className="icon" aria-hidden="true" /> Rename
              </Menu.Item>
              <Menu.Item onClick={() => setTask('duplicate')}>
                <Copy className="icon" aria-hidden="true" /> Duplicate
              </Menu.Item>
              <Menu.Item onClick={() => file.current?.click()}>
                <Upload className="icon" aria-hidden="true" /> Import
              </Menu.Item>
              <Menu.Item onClick={() => download(sandbox.name, graphText(model.graph))}>
                <Download className="icon" aria-hidden="true" /> Export
              </Menu.Item>
              <Menu.Item onClick={() => setTask('connect')}>
                <Cable className="icon" aria-hidden="true" /> Connect client
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <ImportField file={file} />
      {task === 'connect' && <McpDialog sandbox={sandbox.id} onClose={close} />}
      {task === 'rename' && <RenameDialog saving={saving} onClose={close} />}
      {task === 'duplicate' && <DuplicateDialog saving={saving} onClose={close} />}
    </>
  )
}

/** Shows what the hovered or focused icon button of the header does, and its keys. */
function Tips({ header, isQuiet }: { header: RefObject<HTMLElement | null>; isQuiet: boolean }) {
  const [at, setAt] = useState<HTMLElement | null>(null)
  useEffect(() => {
    const element = header.current!
    const show = ({ target }: Event) => {
      const button = target instanceof Element ? target.closest<HTMLElement>('[data-tip]') : null
      const isByMouse = button !== null && !button.matches(':focus-visible') && !button.matches(':hover')
      setAt(isByMouse ? null : button)
    }
    const hide = () => setAt(null)
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && hide()
    for (const event of ['pointerover', 'focusin']) element.addEventListener(event, show)
    for (const event of ['pointerleave', 'focusout', 'click']) element.addEventListener(event, hide)
    document.addEventListener('keydown', onKey)
    return () => {
      for (const event of ['pointerover', 'focusin']) element.removeEventListener(event, show)
      for (const event of ['pointerleave', 'focusout', 'click']) element.removeEventListener(event, hide)
      document.removeEventListener('keydown', onKey)
    }
  }, [header])
  if (!at || isQuiet) return null
  return (
    <Tooltip.Root open>
      <Tooltip.Portal>
        <Tooltip.Positioner anchor={at} sideOffset={6} className="flow-menu-place">
          <Tooltip.Popup className="tip">
            {at.getAttribute('aria-label')} {at.dataset['tip'] && <kbd>{at.dataset['tip']}</kbd>}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}

/** Reads a flow from a file. An import is one history step. */
function ImportField({ file }: { file: RefObject<HTMLInputElement | null> }) {
  const { editor, products } = useSession()
  const [fault, setFault] = useState<string | null>(null)
  const read = async (chosen: File) => {
    const answer = readGraphText(await chosen.text())
    if ('fault' in answer) return setFault(answer.fault)
    editor.change(() => placed(canvasModel(answer.graph, products)))
    announce(`${chosen.name} imported. Press Ctrl+Z to undo.`)
  }
  return (
    <>
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

function RenameDialog({ saving, onClose }: { saving: Saving; onClose: () => void }) {
  const [name, setName] = useState(saving.sandbox.name)
  const change = useChange(() => saving.rename(name.trim()), `Flow renamed to ${name.trim()}.`)
  return (
    <FormDialog title="Rename flow" submit="Rename" isReady={name.trim() !== ''} change={change} onClose={onClose}>
      <TextField label="Name" required maxLength={100} value={name} onChange={setName} />
    </FormDialog>
  )
}

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/sandboxes'

/** Creates a flow from the graph on the canvas, unsaved changes included, and opens it. */
function DuplicateDialog({ saving, onClose }: { saving: Saving; onClose: () => void }) {
  const params = useScope()
  const navigate = useNavigate()
  const { model } = useSession()
  const [revisionKey] = useState(newIdempotencyKey)
  return (
    <CreateNamedDialog
      title="Duplicate flow"
      hint={`Creates a flow with what the canvas of ${saving.sandbox.name} shows.`}
      create={async (body, idempotencyKey) => {
        const made = await ask('POST', PATH, { params, body, idempotencyKey })
        await ask('POST', '/api/v2/tenants/{tenant}/sandboxes/{sandbox}/revisions', {
          params: { tenant: params.tenant, sandbox: made.id },
          body: { graph: model.graph, draft: model.problems.length > 0, baseRevision: 0 },
          idempotencyKey: revisionKey,
        })
        return made
      }}
      announcement={(name) => `Flow ${name} created.`}
      paths={[PATH]}
      onDone={({ id }) => {
        onClose()
        void navigate({ to: '/projects/$tenant/$project/flows/$sandbox', params: { ...params, sandbox: id } })
      }}
      onClose={onClose}
    />
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
