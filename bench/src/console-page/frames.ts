import type { Page } from 'playwright-core'

const COUNT = `if (globalThis.drawn === undefined) {
  globalThis.drawn = 0
  const next = (atMs) => {
    if (globalThis.drawn > 0) globalThis.longestMs = Math.max(globalThis.longestMs, atMs - globalThis.drawnAtMs)
    globalThis.drawn++
    globalThis.drawnAtMs = atMs
    requestAnimationFrame(next)
  }
  requestAnimationFrame(next)
}
globalThis.longestMs = 0`

/**
 * Measures how many frames per second a page draws while an action repeats, the longest time between two of them, and
 * how long its thread is busy per frame, by its trace of tasks.
 */
export async function frames(
  page: Page,
  lastsMs: number,
  act: (n: number) => Promise<void>,
): Promise<{ perSecond: number; longestMs: number; busyMs: number }> {
  const tracing = await page.context().newCDPSession(page)
  await tracing.send('Performance.enable')
  await page.evaluate(COUNT)
  const look = async () => {
    const { metrics } = await tracing.send('Performance.getMetrics')
    const metric = (name: string) => metrics.find((each) => each.name === name)!.value
    return {
      drawn: await page.evaluate<number>('globalThis.drawn'),
      atMs: metric('Timestamp') * 1_000,
      busyMs: metric('TaskDuration') * 1_000,
    }
  }
  const before = await look()
  const end = performance.now() + lastsMs
  for (let n = 0; performance.now() < end; n++) {
    await act(n)
    await page.evaluate('new Promise(requestAnimationFrame)')
  }
  const after = await look()
  await tracing.detach()
  const drawn = after.drawn - before.drawn
  return {
    longestMs: await page.evaluate<number>('globalThis.longestMs'),
    perSecond: (drawn * 1_000) / (after.atMs - before.atMs),
    busyMs: (after.busyMs - before.busyMs) / drawn,
  }
}
