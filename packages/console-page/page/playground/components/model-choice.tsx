import { Field } from '../../components/fields.tsx'

/** Select for a model or flow. */
export function ModelChoice({
  label,
  none,
  models,
  chosen,
  onChange,
}: {
  label: string
  /** Label of the empty option, if there is one. */
  none?: string
  models: { id: string; name: string }[]
  chosen: string | undefined
  onChange: (model: string | undefined) => void
}) {
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} value={chosen ?? ''} onChange={({ target }) => onChange(target.value || undefined)}>
          {none !== undefined && <option value="">{none}</option>}
          {models.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
