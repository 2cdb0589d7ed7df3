import { useEffect, useRef, type ReactNode } from 'react'
import { useTitle } from './use-title.ts'

/** Whether the user came from another screen. The heading then takes the focus, so that screen readers read it. */
let cameFromElsewhere = false

/** Screen with its title, actions and content. */
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
