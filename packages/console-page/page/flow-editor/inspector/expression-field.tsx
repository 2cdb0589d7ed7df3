import { useRef, useState } from 'react'
import type { CanvasNode, CanvasModel } from '../core/canvas-model.ts'
import { CodeEditor, withLineFeeds, type CodeHandle } from '../../components/code-editor.tsx'
import { faultOfField } from './field-problems.ts'
import { expressionFaults } from './expression-faults.ts'
import { useSession } from '../state/open-editor.ts'
import { useField } from './fields.tsx'
import type { Graph, GraphEdge } from '@gateway/api/graph'
import type { PortType } from '@gateway/flow/node-kinds'
import { connect, disconnect, setField, nodeOf } from '../core/node-commands.ts'
import { edgeKey } from '../core/edges.ts'

/**
 * Text of a template or an expression, checked on every keystroke with the validator of the server. Selecting a value
 * in scope inserts it at the caret and draws its edge.
 */
export function ExpressionField({
  drawn,
  field,
  label,
  hint,
  rows,
  isTemplate = false,
}: {
  drawn: CanvasNode
  field: string
  label: string
  hint?: string
  rows: number
  isTemplate?: boolean
}) {
  const { editor, model } = useSession()
  const set = useField(drawn.key, field)
  const area = useRef<CodeHandle>(null)
  const [caret, setCaret] = useState(0)
  const value: unknown = drawn.node[field]
  const text = typeof value === 'string' ? withLineFeeds(value) : ''
  const written = typedName(text, caret, isTemplate)?.written ?? ''
  const inScope = valuesInScope(model, drawn.key)
  const offered = inScope.filter(({ name, end }) => `${name} ${end}`.toLowerCase().includes(written.toLowerCase()))
  const inserted = useRef<Insertion[]>([])
  const insert = ({ end, name, isUsed }: ValueInScope, before = text, at = caret) => {
    const put = withName(before, at, name, isTemplate)
    if (!isUsed) inserted.current.push({ before, after: put.text, end, name })
    area.current?.focus() // makes it a step of the field's history
    editor.change((graph) => insertValue(graph, drawn.key, { field, text: put.text, end, name }))
    requestAnimationFrame(() => {
      area.current?.focus(put.caret)
      setCaret(put.caret)
    })
  }
  const write = (next: string) => {
    const undone = inserted.current.find(({ before, after }) => before === next && after === text)
    const redone = inserted.current.find(({ before, after }) => before === text && after === next)
    if (undone) editor.change((graph) => removeValue(graph, drawn.key, { field, text: next, ...undone }))
    else if (redone) editor.change((graph) => insertValue(graph, drawn.key, { field, text: next, ...redone }))
    else set(next)
  }
  return (
    <>
      <CodeEditor
        ref={area}
        language={isTemplate ? 'template' : 'expression'}
        label={label}
        {...(hint !== undefined && { hint })}
        fault={faultOfField(drawn.problems, drawn.node.kind, 'text')}
        rows={rows}
        value={text}
        onChange={write}
        onCaret={setCaret}
        faultsOf={(text) => expressionFaults(text, isTemplate)}
        offeredAt={(text, caret) => {
          const typed = typedName(text, caret, isTemplate)
          if (!typed || text[typed.from - 1] === '.') return null
          const options = inScope.map((value) => ({
            label: value.name,
            detail: `${value.end} ${value.type}`,
            apply: (written: string, at: number) => insert(value, written, at),
          }))
          return { from: typed.from, options }
        }}
      />
      <div className="field">
        <span className="small soft">Values in scope{written !== '' && ` matching “${written}”`}</span>
        <ul className="scope">
          {offered.map((value) => (
            <li key={value.end}>
              <button type="button" className={`scope-value type-${value.type}`} onClick={() => insert(value)}>
                <span className={`port-mark type-${value.type}`} />
                {value.end}
                {value.isUsed && <small className="soft">as {value.name}</small>}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </>
  )
}

/** Name being typed at the caret of an expression, or within `{{ }}` of a template; null if there is none. */
function typedName(text: string, caret: number, isTemplate: boolean): { from: number; written: string } | null {
  const before = text.slice(0, caret)
  if (isTemplate && before.lastIndexOf('{{') <= before.lastIndexOf('}}')) return null
  const written = /[A-Za-z_]\w*$|$/.exec(before)![0]
  return { from: caret - written.length, written }
}

/** Inserts a name at the caret in place of the typed prefix, wrapped in `{{ }}` in the text of a template. */
function withName(text: string, caret: number, name: string, isTemplate: boolean): { text: string; caret: number } {
  const typed = typedName(text, caret, isTemplate)
  const put = typed ? name : `{{ ${name} }}`
  const from = typed?.from ?? caret
  return { text: `${text.slice(0, from)}${put}${text.slice(caret)}`, caret: from + put.length }
}

/** Value that an expression of a node can use: an output of a node that does not depend on this one. */
interface ValueInScope {
  /** `node.port`. */
  end: string
  type: PortType | 'any'
  /** Name in the expression: the current one, or a suggestion. */
  name: string
  isUsed: boolean
}

function valuesInScope({ nodes, edges, graph }: CanvasModel, key: string): ValueInScope[] {
  const later = laterThan(key, edges)
  const wired = new Map(edges.filter(({ to }) => to.key === key).map(({ edge, to }) => [edge.from, to.port]))
  const taken = new Set(wired.values())
  const own = nodeOf(graph, key)
  return nodes
    .filter((node) => !later.has(node.key) && node.key === node.node.id && node.node !== own)
    .flatMap(({ node, outputs }) =>
      outputs
        .filter(({ isMissing }) => !isMissing)
        .map(({ name, type }) => {
          const end = `${node.id}.${name}`
          const used = wired.get(end)
          return { end, type, name: used ?? freeName(node.id, name, taken), isUsed: used !== undefined }
        }),
    )
}

/** An insertion that drew an edge. The field undoes and redoes it as a change of its text. */
interface Insertion {
  before: string
  after: string
  end: string
  name: string
}

type Written = Pick<Insertion, 'end' | 'name'> & Record<'field' | 'text', string>

/**
 * Sets the text of an expression that uses a value and connects the value to the resulting port, in one history step.
 */
function insertValue(graph: Graph, key: string, { field, text, end, name }: Written): Graph {
  const written = setField(graph, key, field, text)
  const edge = edgeOf(graph, key, { end, name })
  const others = written.edges.filter(({ to, from }) => to === edge.to && from !== end).map(edgeKey)
  return connect(disconnect(written, new Set(others)), edge)
}

/** Takes an inserted value back with its edge, in one history step. */
function removeValue(graph: Graph, key: string, { field, text, ...value }: Written): Graph {
  return disconnect(setField(graph, key, field, text), new Set([edgeKey(edgeOf(graph, key, value))]))
}

function edgeOf(graph: Graph, key: string, { end, name }: Pick<Written, 'end' | 'name'>): GraphEdge {
  return { from: end, to: `${nodeOf(graph, key)?.id ?? key}.${name}` }
}

/** Valid CEL name: the port name, prefixed with the node ID if it is taken. */
function freeName(id: string, port: string, taken: ReadonlySet<string>): string {
  const plain = port.slice(port.lastIndexOf('.') + 1).replaceAll(/\W/g, '_')
  const wanted = [plain, `${id}_${plain}`.replaceAll(/\W/g, '_')].map((name) => name.replace(/^(?=\d)/, '_'))
  return wanted.find((name) => !taken.has(name)) ?? wanted[1]!
}

function laterThan(key: string, edges: CanvasModel['edges']): Set<string> {
  const later = new Set([key])
  for (const at of later) for (const { from, to } of edges) if (from.key === at) later.add(to.key)
  return later
}
