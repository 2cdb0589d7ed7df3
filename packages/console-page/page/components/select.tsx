import { Select as Base } from '@base-ui/react/select'
import type { ComponentProps, Ref } from 'react'
import { useInputMark } from './dialog.tsx'
import { Field, type FieldIds } from './fields.tsx'
import { Icon } from './icon.tsx'

/**
 * Choice of one option. Typing the beginning of an option chooses it.
 * @param value null: nothing is chosen, and the placeholder is shown. The library takes '' for the same, so the text of
 * that option stands as the placeholder.
 */
export function Select<Value extends string | number>({
  value,
  options,
  placeholder = 'Select…',
  required = false,
  disabled = false,
  onOpen,
  onChange,
  ...ids
}: {
  value: Value | null
  options: readonly (readonly [value: Value, text: string])[]
  placeholder?: string
  required?: boolean
  disabled?: boolean
  onOpen?: () => void
  onChange: (value: Value) => void
  ref?: Ref<HTMLButtonElement>
} & (FieldIds | { 'aria-label': string })) {
  const markInput = useInputMark()
  return (
    <Base.Root
      items={options.map(([each, label]) => ({ value: each, label }))}
      value={value}
      required={required}
      disabled={disabled}
      onOpenChange={(isOpen) => isOpen && onOpen?.()}
      onValueChange={(chosen) => {
        if (chosen === null) return
        markInput()
        onChange(chosen)
      }}
    >
      <Base.Trigger {...ids} className="select">
        <Base.Value placeholder={options.find(([each]) => each === '')?.[1] ?? placeholder} />
        <Base.Icon render={<Icon name="updown" />} />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="popup-layer" alignItemWithTrigger={false} sideOffset={4} collisionPadding={8}>
          <Base.Popup className="popup">
            <Base.List>
              {options.map(([each, text]) => (
                <Base.Item key={each} value={each} className="popup-item">
                  <Base.ItemText>{text}</Base.ItemText>
                  <Base.ItemIndicator render={<Icon name="check" />} />
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

/** A select with its visible label. */
export function SelectField<Value extends string | number>({
  label,
  hint,
  fault,
  ...select
}: Pick<ComponentProps<typeof Field>, 'label' | 'hint' | 'fault'> &
  Omit<ComponentProps<typeof Select<Value>>, keyof FieldIds | 'aria-label'>) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })} {...(fault !== undefined && { fault })}>
      {(ids) => <Select {...ids} {...select} />}
    </Field>
  )
}

const graces = [
  [0, 'Immediately'],
  [3_600, 'In 1 hour'],
  [86_400, 'In 24 hours'],
] as const

/** When an old secret ends, in seconds from now. */
export function GraceField({
  label,
  seconds,
  onChange,
}: {
  label: string
  seconds: number
  onChange: (seconds: number) => void
}) {
  return <SelectField label={label} value={seconds} options={graces} onChange={onChange} />
}
