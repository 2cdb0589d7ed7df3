import { useState } from 'react'
import { Field } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'

/** List of numbers shown as chips. Enter adds another one. */
export function ChosenValues({
  label,
  hint,
  values,
  most,
  read,
  show,
  wrong,
  onChange,
}: {
  label: string
  hint: string
  values: number[]
  most: number
  /** Parses the typed text; null if invalid. */
  read: (text: string) => number | null
  show: (value: number) => string
  wrong: string
  onChange: (values: number[]) => void
}) {
  const [text, setText] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const add = () => {
    const value = read(text)
    if (value === null) return setFault(wrong)
    setText('')
    setFault(null)
    if (!values.includes(value)) onChange([...values, value].toSorted((one, other) => other - one))
  }
  const isFull = values.length >= most
  return (
    <div className="stack tight">
      <Field label={label} hint={isFull ? `Maximum of ${most} reached.` : hint} fault={fault}>
        {(ids) => (
          <div className="with-button">
            <input
              {...ids}
              inputMode="decimal"
              autoComplete="off"
              disabled={isFull}
              value={text}
              onChange={({ target }) => setText(target.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter') return
                event.preventDefault()
                add()
              }}
            />
            <button type="button" className="button" disabled={isFull} aria-label={`Add: ${label}`} onClick={add}>
              Add
            </button>
          </div>
        )}
      </Field>
      <ul className="chips" aria-label={label}>
        {values.map((value) => (
          <li key={value} className="chip">
            {show(value)}
            <button type="button" onClick={() => onChange(values.filter((each) => each !== value))}>
              <Icon name="close" />
              <span className="visually-hidden">
                Remove {show(value)}: {label}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
