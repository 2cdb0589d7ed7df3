import { useEffect, useRef, type ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../components/list-states.tsx'

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

/** Sets the title shown in browser tabs and history. */
export function useTitle(...parts: string[]): void {
  const title = [...parts, 'Console'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}

export function UnknownScreen() {
  return (
    <Screen title="Page not found">
      <EmptyState title="No page has this address" action={<Link to="/">Go to projects</Link>}>
        The address may be mistyped or belong to another version of the console.
      </EmptyState>
    </Screen>
  )
}
