import { expect, test } from 'vitest'
import { inTurns } from './waiting.ts'

test('a long computation lets others go first between its steps, and answers what it returns', async () => {
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
