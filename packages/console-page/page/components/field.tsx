import { useId, type ReactNode } from 'react'

/** Attributes that tie a control to its label, hint and error. */
export interface FieldIds {
  id: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}

export function Field({
  label,
  hint,
  fault,
  children,
}: {
  label: string
  hint?: string
  fault?: string | null
  children: (ids: FieldIds) => ReactNode
}) {
  const id = useId()
  const describedBy = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ')
  const ids: FieldIds = {
    id,
    ...(describedBy && { 'aria-describedby': describedBy }),
    ...(fault && { 'aria-invalid': true }),
  }
  return (
    <div className="field">
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
