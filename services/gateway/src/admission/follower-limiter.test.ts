import { expect, test } from 'vitest'
import { openFollowerLimiter } from './limits.ts'

test('gives the keys of a project a maximum that replaces the one for all keys', () => {
  const limiter = openFollowerLimiter(100, 2, { prj_large: 3 })
  const held = (keyHash: string, project: string) => {
    for (let permits = 0; ; permits++)
      try {
        limiter.acquire({ keyHash, project })
      } catch (error) {
        return [permits, (error as Error).message]
      }
  }
  const refused = (max: number) =>
    `overloaded: This key follows the progress of ${max} executions, as many as it may follow.`
  expect([held('a', 'prj_large'), held('b', 'prj_large'), held('c', 'prj_other')]).toEqual([
    [3, refused(3)],
    [3, refused(3)],
    [2, refused(2)],
  ])
})
