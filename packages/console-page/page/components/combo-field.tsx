import { Autocomplete } from '@base-ui/react/autocomplete'
import type { ReactNode } from 'react'
import { Field } from './fields.tsx'
import { Icon } from './icon.tsx'

export interface ComboOption {
  value: string
  /** Shown next to the value, and searched too. */
  detail?: string
  mark?: ReactNode
}

/** Text field with suggestions: any text may be typed, or one of the options chosen. */
export function ComboField({
  label,
  hint,
  fault = null,
  placeholder,
  required = false,
  value,
  options,
  onChange,
  onChoose,
}: {
  label: string
  hint?: string
  fault?: string | null
  placeholder?: string
  required?: boolean
  value: string
  options: readonly ComboOption[]
  onChange: (text: string) => void
  /** Called with a chosen option, after `onChange`. */
  onChoose?: (value: string) => void
}) {
  const isFound = ({ value: text, detail = '' }: ComboOption, sought: string) =>
    `${text} ${detail}`.toLowerCase().includes(sought.trim().toLowerCase())
  return (
    <Autocomplete.Root
      items={options}
      filter={isFound}
      itemToStringValue={({ value: text }: ComboOption) => text}
      value={value}
      openOnInputClick
      autoHighlight={onChoose !== undefined}
      onValueChange={(text, { reason }) => {
        onChange(text)
        if (reason === 'item-press') onChoose?.(text)
      }}
    >
      <Field label={label} fault={fault} {...(hint !== undefined && { hint })}>
        {(ids) => (
          <span className="combo">
            <Autocomplete.Input {...ids} required={required} {...(placeholder !== undefined && { placeholder })} />
            <Icon name="updown" />
          </span>
        )}
      </Field>
      <Autocomplete.Portal>
        <Autocomplete.Positioner className="popup-layer" sideOffset={4} collisionPadding={8}>
          <Autocomplete.Popup className="popup" aria-label={`Suggestions for ${label}`}>
            <Autocomplete.Empty>
              <div className="popup-empty">No suggestions.</div>
            </Autocomplete.Empty>
            <Autocomplete.List>
              {(option: ComboOption) => (
                <Autocomplete.Item key={option.value} value={option} className="popup-item">
                  <span>
                    {option.value} {option.detail && <span className="soft small">{option.detail}</span>}
                  </span>
                  {option.mark}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  )
}
