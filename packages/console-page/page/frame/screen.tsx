import { useEffect, useRef, type ReactNode, type RefObject, useState, type ComponentType } from 'react'
import { Link } from '@tanstack/react-router'
import { EmptyState, Waiting } from '../components/list-states.tsx'
import { Unreachable } from '@gateway/api-client/failures'
import { failedBy } from '../api/failed.ts'
import { FailedBox } from '../components/refusal-box.tsx'

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
  const heading = useHeadingFocus()
  useTitle(...(of === undefined ? [title] : [title, of]))
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

/** Whether the user came from another screen. */
let cameFromElsewhere = false

/** Ref of the heading of a screen. If the user came from another screen, it takes the focus, so screen readers read it. */
export function useHeadingFocus(): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (cameFromElsewhere) heading.current?.focus({ preventScroll: true })
    cameFromElsewhere = true
  }, [])
  return heading
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

/**
 * Screen whose code loads when it is first opened. Until then, and if it can't be fetched, the frame stays; Retry
 * fetches it again.
 */
export function laterScreen<Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
): () => ReactNode {
  let Loaded: ComponentType | null = null
  return function LaterScreen() {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>('loading')
    useEffect(() => {
      if (Loaded || state !== 'loading') return
      load().then(
        (module) => {
          Loaded = module[name]
          setState('loaded')
        },
        () => setState('failed'),
      )
    }, [state])
    // A browser may remember that an import failed; then the page is loaded again, once the service can be reached.
    const onRetry = () =>
      load().then(
        () => setState('loading'),
        () =>
          fetch(location.href, { method: 'HEAD' }).then(
            () => location.reload(),
            () => {},
          ),
      )
    if (Loaded) return <Loaded />
    if (state === 'failed') return <UnreachedScreen onRetry={() => void onRetry()} />
    return <Waiting what="the screen" />
  }
}

function UnreachedScreen({ onRetry }: { onRetry: () => void }) {
  return (
    <Screen title="Screen not loaded">
      <FailedBox of={unreached} onRetry={onRetry} />
    </Screen>
  )
}

const unreached = failedBy(new Unreachable('The code of the screen did not arrive.'))

/** In place of a screen that failed to render. */
export function FailedScreen({ error }: { error: unknown }) {
  return (
    <Screen title="Screen failed">
      <FailedBox of={failedBy(error)} onRetry={() => location.reload()} />
    </Screen>
  )
}
