import { Copyable } from './copying.tsx'
import { Dialog, ShownOnceGuard } from './dialog.tsx'
import { Tabs } from '@base-ui/react/tabs'
import type { ReactNode } from 'react'

/**
 * A secret, shown once, and how to use it. Only its button closes it, and leaving is confirmed.
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
          <ShownOnceGuard />
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
  return (
    <Tabs.Root defaultValue={names[0]} className="stack tight">
      <div className="head">
        <h3>{title}</h3>
        <Tabs.List className="tabs" aria-label={label}>
          {names.map((name) => (
            <Tabs.Tab key={name} value={name} className="tab">
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </div>
      {names.map((name) => (
        <Tabs.Panel key={name} value={name}>
          <Copyable text={of[name]} label={copy} />
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  )
}
