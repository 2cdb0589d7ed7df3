import { setImmediate as othersGoFirst } from 'node:timers/promises'

const TURN_MS = 5

/** Takes the steps of a long computation, and lets whatever else waits go first every few milliseconds. */
export async function inTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  let untilMs = performance.now() + TURN_MS
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() < untilMs) continue
    await othersGoFirst()
    untilMs = performance.now() + TURN_MS
  }
}
