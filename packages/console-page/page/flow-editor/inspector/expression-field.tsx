import { useRef, useState } from 'react'
import type { CanvasNode } from '../core/canvas-model.ts'
import { typedName, withName } from '../core/typed-name.ts'
import { insertValue, valuesInScope, type ValueInScope } from '../core/values-in-scope.ts'
import { Field } from '../../components/field.tsx'
import { useSession } from '../session.ts'
import { useField } from './use-field.ts'

const ofText = new Set(['expression_invalid', 'template_invalid', 'field_invalid'])

/**
 * Text of a template or an expression, checked on every keystroke with the validator of the server. Selecting a value
 * in scope inserts it at the caret and draws its edge.
 */
export function ExpressionField({
  drawn,
  field,
  label,
  rows,
  isTemplate = false,
}: {
  drawn: CanvasNode
  field: string
  label: string
  rows: number
  isTemplate?: boolean
}) {
  const { editor, model } = useSession()
  const set = useField(drawn.key, field)
  const area = useRef<HTMLTextAreaElement>(null)
  const [caret, setCaret] = useState(0)
  const value: unknown = drawn.node[field]
  const text = typeof value === 'string' ? value : ''
  const fault = drawn.problems.find(({ code }) => ofText.has(code))
  const written = typedName(text, caret, isTemplate)?.written ?? ''
  const offered = valuesInScope(model, drawn.key).filter(({ name, end }) =>
    `${name} ${end}`.toLowerCase().includes(written.toLowerCase()),
  )
  const insert = ({ end, name }: ValueInScope) => {
    const put = withName(text, caret, name, isTemplate)
    editor.change((graph) => insertValue(graph, drawn.key, { field, text: put.text, end, name }))
    requestAnimationFrame(() => {
      area.current?.focus()
      area.current?.setSelectionRange(put.caret, put.caret)
      setCaret(put.caret)
    })
  }
  return (
    <>
      <Field label={label} fault={fault ? `${fault.message} ${fault.resolution}` : null}>
        {(ids) => (
          <textarea
            {...ids}
            ref={area}
            className="code"
            rows={rows}
            spellCheck={isTemplate}
            value={text}
            onChange={({ target }) => {
              set(target.value)
              setCaret(target.selectionStart)
            }}
            onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
          />
        )}
      </Field>
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
