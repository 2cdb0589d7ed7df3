import { useEffect, useId, useState, type FormEvent, type ReactNode, type InputHTMLAttributes } from 'react'
import { invalidMessage } from './invalid-message.ts'

/** Attributes that tie a control to its label, hint and error. */
export interface FieldIds {
  id: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/**
 * Control with its label and hint. Its error is shown below it: `fault`, or what its constraints say when the form is
 * submitted, in place of the browser's bubble. The first invalid control of a form takes the focus.
 */
export function Field({
  label,
  hint,
  fault: givenFault,
  children,
}: {
  label: string
  hint?: string
  fault?: string | null
  children: (ids: FieldIds) => ReactNode
}) {
  const id = useId()
  const [invalid, setInvalid] = useState<string | null>(null)
  const fault = givenFault ?? invalid
  const showInvalid = (event: FormEvent) => {
    event.preventDefault()
    const control = event.target as Control
    setInvalid(invalidMessage(control))
    if (control.form?.querySelector(':is(input, select, textarea):invalid') === control) control.focus()
  }
  const checkAgain = ({ target }: FormEvent) => {
    if (invalid !== null) setInvalid(invalidMessage(target as Control))
  }
  const describedBy = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  const ids: FieldIds = {
    id,
    ...(describedBy && { 'aria-describedby': describedBy }),
    ...(fault && { 'aria-invalid': true }),
  }
  return (
    <div className="field" onInvalidCapture={showInvalid} onInput={checkAgain}>
      <label htmlFor={id}>{label}</label>
      {children(ids)}
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault && (
        <span className="fault" id={`${id}-fault`}>
          {fault}
        </span>
      )}
    </div>
  )
}

type Input = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  | 'type'
  | 'inputMode'
  | 'pattern'
  | 'title'
  | 'required'
  | 'maxLength'
  | 'minLength'
  | 'min'
  | 'max'
  | 'autoComplete'
  | 'placeholder'
>

/** Moves the focus to the first field with an error, after an attempt to save. */
export function useFocusOnFault(form: { current: HTMLFormElement | null }, tries: number, error: unknown): void {
  useEffect(() => {
    if (tries > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [form, tries, error])
}

/** One line of text. */
export function TextField({
  label,
  hint,
  fault = null,
  value,
  onChange,
  ...input
}: Input & { label: string; hint?: string; fault?: string | null; value: string; onChange: (text: string) => void }) {
  return (
    <Field label={label} fault={fault} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <input autoComplete="off" {...ids} {...input} value={value} onChange={({ target }) => onChange(target.value)} />
      )}
    </Field>
  )
}

/** Code of an authenticator app, or a recovery code. */
export function CodeField({
  label,
  hint,
  code,
  onChange,
}: {
  label: string
  hint?: string
  code: string
  onChange: (code: string) => void
}) {
  return (
    <TextField
      label={label}
      {...(hint !== undefined && { hint })}
      required
      maxLength={64}
      autoComplete="one-time-code"
      value={code}
      onChange={onChange}
    />
  )
}

/** Field for a password that is about to be set. */
export function NewPasswordField(of: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <TextField
      {...of}
      type="password"
      autoComplete="new-password"
      hint="At least 12 characters."
      required
      minLength={12}
      maxLength={256}
    />
  )
}
