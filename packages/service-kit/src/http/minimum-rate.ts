/** The least that a transfer has to pass in each window, so that a stalled one doesn't keep its place. */
export interface MinimumRate {
  bytesPerSecond: number
  windowMs: number
}

export const minimumRate: MinimumRate = { bytesPerSecond: 10 * 1024, windowMs: 30_000 }

/**
 * Calls `tooSlow` once, if fewer bytes than the minimum passed in a window. Windows follow each other, so that bytes
 * sent in a burst don't pay for a later stall.
 * @param passed number of bytes so far
 * @returns the function that stops watching
 */
export function watchRate(
  passed: () => number,
  tooSlow: () => void,
  { bytesPerSecond, windowMs }: MinimumRate = minimumRate,
): () => void {
  const least = (bytesPerSecond * windowMs) / 1_000
  let before = passed()
  const timer = setInterval(() => {
    const now = passed()
    if (now - before < least) {
      clearInterval(timer)
      tooSlow()
    }
    before = now
  }, windowMs)
  timer.unref()
  return () => clearInterval(timer)
}
