import { useEffect, useState, type ComponentType, type ReactNode } from 'react'
import { Unreachable } from '@gateway/api-client/failures'
import { failedBy } from '../api/failed.ts'
import { FailedBox } from '../components/refusal-box.tsx'
import { Waiting } from '../components/list-states.tsx'
import { Screen } from './screen.tsx'

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
