import { SelectField } from '../../components/select.tsx'

/** Select for a model or flow. A choice that the project can't call is kept and named: no other is taken for it. */
export function ModelChoice({
  label,
  none,
  models,
  known = models,
  chosen,
  onChange,
}: {
  label: string
  /** Label of the empty option, if there is one. */
  none?: string
  models: { id: string; name: string }[]
  /** All that have a name, including those that can't be called. */
  known?: { id: string; name: string }[]
  chosen: string | undefined
  onChange: (model: string | undefined) => void
}) {
  const isMissing = chosen !== undefined && !models.some(({ id }) => id === chosen)
  const missing = isMissing ? { id: chosen, name: known.find(({ id }) => id === chosen)?.name ?? chosen } : null
  return (
    <SelectField
      label={label}
      fault={missing && `This project can't call ${missing.name} at the moment. Choose another.`}
      value={chosen ?? (none === undefined ? null : '')}
      options={[
        ...(none === undefined ? [] : [['', none] as const]),
        ...[...(missing ? [missing] : []), ...models].map(({ id, name }) => [id, name] as const),
      ]}
      onChange={(id) => onChange(id || undefined)}
    />
  )
}
