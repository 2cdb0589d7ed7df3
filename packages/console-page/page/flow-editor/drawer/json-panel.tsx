import { useStore } from 'zustand'
import { CodeEditor } from '../../components/code-editor.tsx'
import { graphText, readGraphText } from '../core/graph-text.ts'
import { useSession, type TypedJson } from '../state/open-editor.ts'

const STALE = 'The flow was changed elsewhere since this text was typed.'

/**
 * Editable JSON of the graph. A valid graph is applied immediately; invalid text stays in the field with its error. If
 * the graph changes elsewhere meanwhile, the text replaces it only when the user says so.
 */
export function JsonPanel() {
  const { editor, model } = useSession()
  const shown = graphText(model.graph)
  // Typed text and the graph it produced. Once the graph changes elsewhere, its text is shown again.
  const { typed } = useStore(editor.typedJson)
  const isTyped = typed !== null && (typed.fault !== null || typed.graph === model.graph)
  const text = isTyped ? typed.text : shown
  const setTyped = (next: TypedJson | null) => editor.typedJson.setState({ typed: next })
  const apply = (text: string) => {
    const read = readGraphText(text)
    if ('graph' in read) editor.change(() => read.graph, 'json')
    const fault = 'fault' in read ? read.fault : null
    setTyped({ text, fault, graph: editor.store.getState().graph })
  }
  const type = (text: string) => {
    if (!isTyped || typed.graph === model.graph) return apply(text)
    const read = readGraphText(text)
    setTyped({ ...typed, text, fault: 'fault' in read ? read.fault : STALE })
  }
  return (
    <div className="json-panel">
      {isTyped && typed.fault !== null && (
        <p className="fault" role="status">
          {typed.fault}{' '}
          {typed.fault === STALE && (
            <button type="button" className="button small" onClick={() => apply(text)}>
              Apply this text
            </button>
          )}{' '}
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
