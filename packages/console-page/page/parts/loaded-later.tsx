import { useEffect, useState, type ComponentType } from 'react'

const notYet = new Set<() => Promise<unknown>>()

/**
 * A component whose code is loaded when it is first shown, or before that by `loadAhead`. Where the code is there it is shown at once,
 * as any other: React's own `lazy` would wait even then, and keep the focus from what is opened.
 */
export function loadedLater<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
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
            throw error // for whoever shows what went wrong with the screen
          }),
      )
    }, [])
    return Loaded && <Loaded {...props} />
  }
}

/** Loads what may be opened next, once the browser has nothing else to do. Answers how to call that off. */
export function loadAhead(): () => void {
  // A connection that fails now is told of when something is opened.
  const load = () => notYet.forEach((begin) => void begin().catch(() => {}))
  if (!('requestIdleCallback' in globalThis)) {
    const later = setTimeout(load, 1_000) // Safari
    return () => clearTimeout(later)
  }
  const idle = requestIdleCallback(load)
  return () => cancelIdleCallback(idle)
}
