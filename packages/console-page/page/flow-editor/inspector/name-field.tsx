import { Field } from '../../components/field.tsx'

/** A name that others go by: taken once it is whole, on Enter or when it is left. */
export function NameField({
  label,
  typed,
  fault,
  onType,
  onDone,
}: {
  label: string
  typed: string
  fault: string | null
  onType: (typed: string) => void
  onDone: () => void
}) {
  return (
    <Field label={label} fault={fault}>
      {(ids) => (
        <input
          {...ids}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => onType(target.value)}
          onBlur={onDone}
          onKeyDown={({ key }) => key === 'Enter' && onDone()}
        />
      )}
    </Field>
  )
}
