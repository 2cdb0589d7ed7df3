import type { CanvasNode } from '../core/canvas-model.ts'
import { Field } from '../../components/field.tsx'
import { JsonField } from './json-field.tsx'
import { NumberField } from './number-field.tsx'
import { useField } from './use-field.ts'

const beginnings = { string: '', number: 0, boolean: false, object: {} } as const
type ConstantType = keyof typeof beginnings
const types = Object.keys(beginnings) as ConstantType[]

/** Form for a constant, by type. */
export function ConstantForm({ drawn: { key, node } }: { drawn: CanvasNode }) {
  const set = useField(key, 'value')
  const { value } = node
  const type = types.find((type) => type === typeof value) ?? 'object'
  return (
    <>
      <Field label="Type">
        {(ids) => (
          <select {...ids} value={type} onChange={({ target }) => set(beginnings[target.value as ConstantType])}>
            {types.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        )}
      </Field>
      {type === 'string' && (
        <Field label="Value">
          {(ids) => <textarea {...ids} rows={5} value={String(value)} onChange={({ target }) => set(target.value)} />}
        </Field>
      )}
      {type === 'number' && <NumberField label="Value" value={value} onChange={(number) => set(number ?? 0)} />}
      {type === 'boolean' && (
        <label className="choice">
          <input type="checkbox" checked={value === true} onChange={({ target }) => set(target.checked)} />
          True
        </label>
      )}
      {type === 'object' && <JsonField label="Value, as JSON" value={value} onChange={set} />}
    </>
  )
}
