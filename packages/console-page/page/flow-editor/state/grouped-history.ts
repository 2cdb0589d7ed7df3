const PAUSE_MS = 1_000

/** Lets changes of one group be one step of a history. @param now milliseconds */
export function groupedHistory(now: () => number) {
  let last: { group: string | null; atMs: number } | null = null
  let continues = false

  /** Names the group of the change that comes next; null: its own step. */
  function next(group: string | null): void {
    const atMs = now()
    continues = group !== null && last?.group === group && atMs - last.atMs < PAUSE_MS
    last = { group, atMs }
  }
  function end(): void {
    last = null
  }
  /** Keeps the state before the first change of a group, and none of those between. */
  function handleSet<Keep extends (...args: never[]) => void>(keep: Keep): Keep {
    return ((...args: Parameters<Keep>) => {
      if (!continues) keep(...args)
    }) as Keep
  }
  return { next, end, handleSet }
}
