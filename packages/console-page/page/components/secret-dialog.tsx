import type { ReactNode } from 'react'
import { Copyable } from './copyable.tsx'
import { Dialog } from './dialog.tsx'

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
