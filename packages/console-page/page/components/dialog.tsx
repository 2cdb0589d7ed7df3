import { useEffect, useId, useRef, type ReactNode } from 'react'

/**
 * Native modal dialog, open while mounted. It traps focus, closes on Escape, and then returns focus to the element that
 * had it, or to the screen's heading if that element is gone. With `stays`, only its buttons close it.
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
