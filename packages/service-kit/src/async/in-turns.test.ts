import { expect, test } from 'vitest'
import { inTurns } from './waiting.ts'

test('inTurns yields to other work between the steps of a long computation, and returns its result', async () => {
  let steps = 0
  let seen = 0
  function* count(): Generator<void, string> {
    const endMs = performance.now() + 50
    while (performance.now() < endMs) {
      steps++
      yield
    }
    return 'counted'
  }
  setImmediate(() => (seen = steps))
  expect(await inTurns(count())).toBe('counted')
  expect(seen).toBeGreaterThan(0)
  expect(seen).toBeLessThan(steps)
})
