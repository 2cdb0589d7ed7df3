import { useState } from 'react'
import { CodeEditor } from '../../components/code-editor.tsx'
import { graphText, readGraphText } from '../core/graph-text.ts'
import { useSession, type Editor } from '../state/open-editor.ts'
import type { Graph } from '@gateway/api/graph'

interface Typed {
  text: string
  graph: Graph
  fault: string | null
}

/** Kept while another tab is open. */
const typedIn = new WeakMap<Editor, Typed>()

/** Editable JSON of the graph. A valid graph is applied immediately; invalid text stays in the field with its error. */
export function JsonPanel() {
  const { editor, model } = useSession()
  const shown = graphText(model.graph)
  // Typed text and the graph it produced. Once the graph changes elsewhere, its text is shown again.
  const [typed, showTyped] = useState(() => typedIn.get(editor) ?? null)
  const isTyped = typed !== null && (typed.fault !== null || typed.graph === model.graph)
  const text = isTyped ? typed.text : shown
  const setTyped = (next: Typed | null) => {
    if (next) typedIn.set(editor, next)
    else typedIn.delete(editor)
    showTyped(next)
  }
  const type = (text: string) => {
    const read = readGraphText(text)
    if ('graph' in read) editor.change(() => read.graph, 'json')
    const fault = 'fault' in read ? read.fault : null
    setTyped({ text, fault, graph: editor.store.getState().graph })
  }
  return (
    <div className="json-panel">
      {isTyped && typed.fault !== null && (
        <p className="fault" role="status">
          {typed.fault}{' '}
          <button type="button" className="button small" onClick={() => setTyped(null)}>
            Reset to the graph
          </button>
        </p>
      )}
      <CodeEditor
        language="json"
        label="Graph as JSON"
        isPanel
        fault={isTyped ? typed.fault : null}
        value={text}
        onChange={type}
        onBlur={() => editor.endGroup()}
      />
    </div>
  )
}
