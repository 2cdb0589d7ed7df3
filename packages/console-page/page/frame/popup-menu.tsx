import { useEffect, useRef, type ReactNode } from 'react'

/** Button with a popup menu. Escape, a click elsewhere or a selection closes it. */
export function PopupMenu({
  className,
  label,
  summaryClass = '',
  children,
}: {
  className: 'menu' | 'switcher'
  label: ReactNode
  summaryClass?: string
  children: ReactNode
}) {
  const element = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const details = element.current
    if (!details) return
    const close = () => details.removeAttribute('open')
    const onPointer = ({ target }: Event) => {
      const chosen = target instanceof Element && target.closest('.popup a, .popup button.item')
      if (chosen || !(target instanceof Node && details.contains(target))) close()
    }
    const onKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape' || !details.open) return
      close()
      details.querySelector('summary')?.focus()
    }
    document.addEventListener('click', onPointer)
    details.addEventListener('keydown', onKey)
    return () => {
      document.removeEventListener('click', onPointer)
      details.removeEventListener('keydown', onKey)
    }
  }, [])
  return (
    <details ref={element} className={className}>
      <summary className={summaryClass}>{label}</summary>
      <div className="popup">{children}</div>
    </details>
  )
}
