import { useEffect, useId, useRef, type ReactNode } from 'react'

/**
 * A dialog of the browser, open for as long as it is there: the focus stays within it, Escape closes it, and afterwards the focus
 * is where it was, or on the heading of the screen if that is gone. One that `stays` is closed by its own buttons alone.
 */
export function Dialog({
  title,
  onClose,
  stays = false,
  children,
}: {
  title: string
  onClose: () => void
  stays?: boolean
  children: ReactNode
}) {
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const dialog = element.current
    const before = document.activeElement
    dialog?.showModal()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      else document.querySelector<HTMLElement>('main h1')?.focus()
    }
  }, [])
  return (
    <dialog
      ref={element}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        if (!stays) onClose()
      }}
    >
      <div className="stack">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
