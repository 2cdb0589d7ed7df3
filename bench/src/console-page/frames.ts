import type { Page } from 'playwright-core'

const COUNT = `if (globalThis.drawn === undefined) {
  globalThis.drawn = 0
  const next = () => { globalThis.drawn++; requestAnimationFrame(next) }
  next()
}`

/**
 * Measures how many frames per second a page draws while an action repeats, and how long its thread is busy per frame,
 * by its trace of tasks.
 */
export async function frames(
  page: Page,
  lastsMs: number,
  act: (n: number) => Promise<void>,
): Promise<{ perSecond: number; busyMs: number }> {
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
    perSecond: (drawn * 1_000) / (after.atMs - before.atMs),
    busyMs: (after.busyMs - before.busyMs) / drawn,
  }
}
