import type { CanvasNode } from '../core/canvas-model.ts'
import { kindTitle } from '../core/kind-labels.ts'
import { KindIcon } from '../canvas/kind-icon.tsx'
import { NodeRecordView } from '../lazy.ts'
import { ContractForm } from './contract-form.tsx'
import { ExpressionField } from './expression-field.tsx'
import { ProductForm } from './product-form.tsx'
import type { GraphProblem, GraphNode } from '@gateway/api/graph'
import { useState } from 'react'
import { renameNode, nodeKeys, nodeOf } from '../core/node-commands.ts'
import { useSession } from '../state/open-editor.ts'
import { NameField, NumberField, useField, useHeldTexts } from './fields.tsx'
import { faultOfField, fieldOfProblem } from './field-problems.ts'
import { Field } from '../../components/fields.tsx'
import { SelectField } from '../../components/select.tsx'
import { JsonField } from './json-field.tsx'

/** Form for a node. */
export function NodeForm({ drawn }: { drawn: CanvasNode }) {
  const { key, node } = drawn
  const { title, hint } = kindTitle(node.kind)
  return (
    <div className="stack">
      <header className="inspector-head">
        <KindIcon kind={node.kind} />
        <h2>{title}</h2>
        <span className="soft small">{hint}</span>
      </header>
      <NodeRecordView id={node.id} />
      <IdField drawn={drawn} />
      <OwnFields drawn={drawn} />
      <NodeProblems problems={drawn.problems.filter((problem) => fieldOfProblem(problem, node.kind) === null)} />
      <NoteFields nodeKey={key} node={node} />
    </div>
  )
}

function OwnFields({ drawn }: { drawn: CanvasNode }) {
  switch (drawn.node.kind) {
    case 'input':
    case 'output':
      return <ContractForm side={drawn.node.kind} />
    case 'template':
      return (
        <ExpressionField
          drawn={drawn}
          field="template"
          label="Text"
          hint="{{ a value }} is replaced by it."
          rows={9}
          isTemplate
        />
      )
    case 'expression':
      return (
        <ExpressionField
          drawn={drawn}
          field="expression"
          label="Expression"
          hint="Computes a value from others, such as size(text) * 2."
          rows={4}
        />
      )
    case 'branch':
      return (
        <ExpressionField
          drawn={drawn}
          field="condition"
          label="True when"
          hint="An expression that is true or false, such as size(text) > 400."
          rows={3}
        />
      )
    case 'constant':
      return <ConstantForm drawn={drawn} />
    default:
      return drawn.kind?.calls ? <ProductForm drawn={drawn} calls={drawn.kind.calls} /> : null
  }
}

/** Problems of a node that belong to none of its fields, and how to fix them. */
function NodeProblems({ problems }: { problems: readonly GraphProblem[] }) {
  if (problems.length === 0) return null
  return (
    <ul className="node-faults" aria-label="Problems of this node">
      {problems.map(({ code, port, message, resolution }) => (
        <li key={`${code} ${port} ${message}`}>
          <strong>{message}</strong>
          <span>{resolution}</span>
        </li>
      ))}
    </ul>
  )
}

const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** ID of a node. Renaming updates its edges. */
function IdField({ drawn: { key, node } }: { drawn: CanvasNode }) {
  const { editor, model } = useSession()
  const faultOf = (typed: string) => {
    if (typed !== node.id && model.nodes.some((other) => other.node.id === typed))
      return 'Another node already has this ID.'
    return ID.test(typed) ? null : 'Use a letter, then up to 63 letters, digits, _ and -.'
  }
  const rename = (typed: string) => {
    const ordinal = nodeKeys(model.graph).indexOf(key)
    editor.change((graph) => (nodeOf(graph, key) ? renameNode(graph, key, typed) : graph))
    const renamed = nodeKeys(editor.store.getState().graph)[ordinal]!
    editor.heldTexts.setState(({ [key]: texts = {} }) => ({ [key]: {}, [renamed]: texts }))
    editor.select([renamed])
  }
  return <NameField label="ID" name={node.id} faultOf={faultOf} onDone={rename} />
}

const text = (value: unknown) => (typeof value === 'string' ? value : '')

/** Title and description of a node. They do not affect execution. */
function NoteFields({ nodeKey, node }: { nodeKey: string; node: GraphNode }) {
  const setTitle = useField(nodeKey, 'title')
  const setDescription = useField(nodeKey, 'description')
  const { title, description } = node
  const [startsOpen] = useState(text(title) !== '' || text(description) !== '')
  return (
    <details open={startsOpen}>
      <summary className="soft">Title and description</summary>
      <div className="stack">
        <Field label="Title">
          {(ids) => (
            <input {...ids} value={text(title)} onChange={({ target }) => setTitle(target.value || undefined)} />
          )}
        </Field>
        <Field label="Description">
          {(ids) => (
            <textarea
              {...ids}
              rows={3}
              value={text(description)}
              onChange={({ target }) => setDescription(target.value || undefined)}
            />
          )}
        </Field>
      </div>
    </details>
  )
}

const beginnings = { string: '', number: 0, boolean: false, object: {} } as const
type ConstantType = keyof typeof beginnings
const types = Object.keys(beginnings) as ConstantType[]

/** Form for a constant, by type. */
function ConstantForm({ drawn: { key, node, problems } }: { drawn: CanvasNode }) {
  const set = useField(key, 'value')
  const held = useHeldTexts(key)
  const fault = faultOfField(problems, node.kind, 'value')
  const { value } = node
  const type = types.find((type) => type === typeof value) ?? 'object'
  return (
    <>
      <SelectField
        label="Type"
        value={type}
        options={types.map((each) => [each, each] as const)}
        onChange={(chosen) => set(beginnings[chosen])}
      />
      {type === 'string' && (
        <Field label="Value" fault={fault}>
          {(ids) => <textarea {...ids} rows={5} value={String(value)} onChange={({ target }) => set(target.value)} />}
        </Field>
      )}
      {type === 'number' && (
        <NumberField
          label="Value"
          held={held('number')}
          fault={fault}
          value={value}
          onChange={(number) => set(number ?? 0)}
        />
      )}
      {type === 'boolean' && (
        <label className="choice">
          <input type="checkbox" checked={value === true} onChange={({ target }) => set(target.checked)} />
          True
        </label>
      )}
      {type === 'object' && (
        <JsonField label="Value (JSON)" held={held('object')} fault={fault} value={value} onChange={set} />
      )}
    </>
  )
}
