import { useEffect, useState, type ComponentType } from 'react'

const notYet = new Set<() => Promise<unknown>>()

/**
 * Component whose code loads when it is first shown, or earlier through `loadAhead`. Once loaded, it renders
 * synchronously; React's `lazy` would suspend even then, and the opened element wouldn't get the focus.
 * @param Before is shown until it is loaded
 */
export function loadedLater<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Before: ComponentType | null = null,
): ComponentType<Props> {
  let Loaded: ComponentType<Props> | null = null
  const begin = async () => {
    Loaded = await load()
    notYet.delete(begin)
  }
  notYet.add(begin)
  return function Later(props: Props) {
    const [, setOutcome] = useState<'loaded' | null>(null)
    useEffect(() => {
      if (Loaded) return
      begin().then(
        () => setOutcome('loaded'),
        (error: unknown) =>
          setOutcome(() => {
            throw error // caught by the screen's error boundary
          }),
      )
    }, [])
    return Loaded ? <Loaded {...props} /> : Before && <Before />
  }
}

/** Loads the remaining components once the browser is idle. Returns a function that cancels this. */
export function loadAhead(): () => void {
  // A failed load is retried, and reported, when the component opens.
  const load = () => notYet.forEach((begin) => void begin().catch(() => {}))
  if (!('requestIdleCallback' in globalThis)) {
    const later = setTimeout(load, 1_000) // Safari
    return () => clearTimeout(later)
  }
  const idle = requestIdleCallback(load)
  return () => cancelIdleCallback(idle)
}
