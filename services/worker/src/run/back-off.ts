const BACK_OFF_MS = { first: 25, most: 1_000 }

/** How long to wait after so many tries: longer each time, up to a second. */
export function backOffMs(tries: number): number {
  return Math.min(BACK_OFF_MS.first * 2 ** (tries - 1), BACK_OFF_MS.most)
}
