import { useRef, useState } from 'react'
import { canvasModel } from '../core/canvas-model.ts'
import { placed } from '../core/first-positions.ts'
import { graphText, readGraphText } from '../core/graph-text.ts'
import { Dialog } from '../../components/dialog.tsx'
import { announce } from '../../frame/announcer.ts'
import { useSession } from '../session.ts'

/** Exports the flow to a file and imports one. An import is one history step. */
export function FileMenu({ name }: { name: string }) {
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
