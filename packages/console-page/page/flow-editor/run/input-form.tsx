import type { ContractSide } from '@gateway/api/graph'
import { shownType } from '../core/contract-types.ts'
import { JsonField } from '../inspector/json-field.tsx'
import { NumberField } from '../inspector/number-field.tsx'
import { Field } from '../../components/field.tsx'
import { AssetField } from './asset-field.tsx'

type Values = Record<string, unknown>

/** Form with a field for each input of the flow. Empty fields are omitted. */
export function InputForm({
  side,
  values,
  onChange,
}: {
  side: ContractSide
  values: Values
  onChange: (values: Values) => void
}) {
  const set = (name: string) => (value: unknown) => {
    const { [name]: _, ...others } = values
    onChange(value === undefined ? others : { ...others, [name]: value })
  }
  return Object.entries(side.properties).map(([name, schema]) => (
    <InputField key={name} name={name} schema={schema} value={values[name]} set={set(name)} />
  ))
}

function InputField({
  name,
  schema,
  value,
  set,
}: {
  name: string
  schema: ContractSide['properties'][string]
  value: unknown
  set: (value: unknown) => void
}) {
  const label = schema.title ?? name
  const type = shownType(schema)
  const text = typeof value === 'string' ? value : ''
  if (type === 'number') return <NumberField label={label} value={value} onChange={set} />
  if (type === 'boolean')
    return (
      <label className="choice">
        <input type="checkbox" checked={value === true} onChange={({ target }) => set(target.checked)} />
        {label}
      </label>
    )
  if (type === 'select')
    return (
      <Field label={label}>
        {(ids) => (
          <select {...ids} value={text} onChange={({ target }) => set(target.value || undefined)}>
            <option value="" />
            {(schema.enum ?? []).map(String).map((option) => (
              <option key={option}>{option}</option>
            ))}
          </select>
        )}
      </Field>
    )
  if (type === 'string')
    return (
      <Field label={label}>
        {(ids) => <textarea {...ids} rows={2} value={text} onChange={({ target }) => set(target.value || undefined)} />}
      </Field>
    )
  if (type === 'image' || type === 'audio')
    return <AssetField label={label} format={type} value={value} onChange={set} />
  return <JsonField label={`${label}, as JSON`} rows={3} value={value} onChange={set} />
}
