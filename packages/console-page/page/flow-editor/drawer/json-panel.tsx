import { useRef, useState } from 'react'
import { graphText, readGraphText } from '../core/graph-text.ts'
import { useSession } from '../session.ts'

/** The graph as text, both ways: a text that is a graph is taken at once, any other stays typed and is reported. */
export function JsonPanel() {
  const { editor, model } = useSession()
  const shown = graphText(model.graph)
  // Typed and what it made; once the graph is another one, its own text is shown again.
  const [typed, setTyped] = useState<{ text: string; graph: typeof model.graph; fault: string | null } | null>(null)
  const numbers = useRef<HTMLPreElement>(null)
  const isTyped = typed !== null && (typed.fault !== null || typed.graph === model.graph)
  const text = isTyped ? typed.text : shown
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
      <div className="lines">
        <pre ref={numbers} aria-hidden="true">
          {text
            .split('\n')
            .map((_, n) => n + 1)
            .join('\n')}
        </pre>
        <textarea
          aria-label="Graph as JSON"
          aria-invalid={isTyped && typed.fault !== null}
          className="code"
          spellCheck={false}
          wrap="off"
          value={text}
          onChange={({ target }) => type(target.value)}
          onBlur={() => editor.endGroup()}
          onScroll={({ currentTarget }) => {
            if (numbers.current) numbers.current.scrollTop = currentTarget.scrollTop
          }}
        />
      </div>
    </div>
  )
}
