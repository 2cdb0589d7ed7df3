export interface Sweep {
  /** Something has come that may have to be swept away later. */
  arm(): void
}

/**
 * Calls `sweep` every `everyMs` for as long as it answers that something is left. No timer runs while nothing is, and none
 * keeps the process alive.
 */
export function openSweep({ everyMs, sweep }: { everyMs: number; sweep: () => boolean }): Sweep {
  let armed = false

  function arm(): void {
    if (armed) return
    armed = true
    setTimeout(() => {
      armed = false
      if (sweep()) arm()
    }, everyMs).unref()
  }

  return { arm }
}
