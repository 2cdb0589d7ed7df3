import { useEffect, useRef, type ReactNode } from 'react'
import { useTitle } from './use-title.ts'

/** Whether someone has come here from another screen: then its heading takes the focus, so that it is read. */
let cameFromElsewhere = false

/** One screen: what it is called, what can be done on it, and what it shows. */
export function Screen({
  title,
  of,
  actions,
  children,
}: {
  title: string
  of?: string
  actions?: ReactNode
  children: ReactNode
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useTitle(...(of === undefined ? [title] : [title, of]))
  useEffect(() => {
    if (cameFromElsewhere) heading.current?.focus({ preventScroll: true })
    cameFromElsewhere = true
  }, [])
  return (
    <>
      <div className="head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions !== undefined && <div className="buttons">{actions}</div>}
      </div>
      {children}
    </>
  )
}
