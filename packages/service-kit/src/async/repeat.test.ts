import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Logger } from '../process/logger.ts'
import { repeat } from './waiting.ts'

const log = { warn: vi.fn<Logger['warn']>() }
const HOUR_MS = 3_600_000

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('hourly work runs first within ten seconds, so that a process that restarts often does it too', async () => {
  const work = vi.fn<() => Promise<number>>().mockResolvedValue(0)
  const stop = repeat({ log }, { name: 'hourly', everyMs: HOUR_MS, work })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(work).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(HOUR_MS - 1)
  expect(work).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(work).toHaveBeenCalledTimes(2)
  await stop()
})

test('work runs again at once while there was some, and after its interval once there is none or it failed', async () => {
  const work = vi.fn<() => Promise<number>>().mockResolvedValueOnce(3).mockRejectedValueOnce(new Error('away'))
  work.mockResolvedValue(0)
  const stop = repeat({ log }, { name: 'often', everyMs: 1_000, work })
  await vi.advanceTimersByTimeAsync(1_001)
  expect(work).toHaveBeenCalledTimes(2)
  expect(log.warn).toHaveBeenCalledWith(expect.objectContaining({ job: 'often' }), expect.any(String))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(work).toHaveBeenCalledTimes(3)
  await stop()
  await vi.advanceTimersByTimeAsync(HOUR_MS)
  expect(work).toHaveBeenCalledTimes(3)
})
