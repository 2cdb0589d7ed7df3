const PAUSE_MS = 1_000

/** Combines consecutive changes of the same group into one history step. @param now milliseconds */
export function groupedHistory(now: () => number) {
  let last: { group: string | null; atMs: number } | null = null
  let continues = false

  /** Sets the group of the next change; null makes it a separate step. */
  function next(group: string | null): void {
    const atMs = now()
    continues = group !== null && last?.group === group && atMs - last.atMs < PAUSE_MS
    last = { group, atMs }
  }
  function end(): void {
    last = null
  }
  /** Records only the state before the first change of a group. */
  function handleSet<Keep extends (...args: never[]) => void>(keep: Keep): Keep {
    return ((...args: Parameters<Keep>) => {
      if (!continues) keep(...args)
    }) as Keep
  }
  return { next, end, handleSet }
}
