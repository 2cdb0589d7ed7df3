import { SelectField } from '../../components/select.tsx'

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
    <SelectField
      label={label}
      value={chosen ?? (none === undefined ? null : '')}
      options={[
        ...(none === undefined ? [] : [['', none] as const]),
        ...models.map(({ id, name }) => [id, name] as const),
      ]}
      onChange={(id) => onChange(id || undefined)}
    />
  )
}
