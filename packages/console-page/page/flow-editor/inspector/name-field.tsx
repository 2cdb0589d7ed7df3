import { Field } from '../../components/field.tsx'

/** Name that other parts of the graph refer to. Applied on Enter or blur, not on every keystroke. */
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
