import { Copyable } from './copying.tsx'
import { Dialog } from './dialog.tsx'
import { useState, type ReactNode } from 'react'

/**
 * A secret, shown once, and how to use it. Only its button closes it.
 * @param before shown if the record was created by an earlier request, whose secret is no longer available
 */
export function SecretDialog({
  title,
  secret,
  before,
  warning,
  copy,
  children,
  onClose,
}: {
  title: string
  secret: string | null
  before?: { title: string; resolution: string | undefined }
  warning: ReactNode
  copy: string
  children?: ReactNode
  onClose: () => void
}) {
  return (
    <Dialog title={secret === null && before ? before.title : title} stays onClose={onClose}>
      {secret === null ? (
        <p>{before?.resolution}</p>
      ) : (
        <>
          <p className="notice">{warning}</p>
          <Copyable text={secret} label={copy} />
          {children}
        </>
      )}
      <div className="buttons">
        <button type="button" className="button main" onClick={onClose}>
          {secret === null ? 'Close' : 'Done'}
        </button>
      </div>
    </Dialog>
  )
}

/** Equivalent code samples, one shown at a time. */
export function CodeChoice<Name extends string>({
  title,
  label,
  copy,
  of,
}: {
  title: string
  /** Accessible name of the choice. */
  label: string
  copy: string
  of: Record<Name, string>
}) {
  const names = Object.keys(of) as Name[]
  const [chosen, setChosen] = useState(names[0]!)
  return (
    <>
      <div className="head">
        <h3>{title}</h3>
        <div className="buttons" role="group" aria-label={label}>
          {names.map((name) => (
            <button
              key={name}
              type="button"
              className="button small"
              aria-pressed={name === chosen}
              onClick={() => setChosen(name)}
            >
              {name}
            </button>
          ))}
        </div>
      </div>
      <Copyable text={of[chosen]} label={copy} />
    </>
  )
}
