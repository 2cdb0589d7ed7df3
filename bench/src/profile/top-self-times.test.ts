import type { Profiler } from 'node:inspector'
import { expect, test } from 'vitest'
import { topSelfTimes } from './top-self-times.ts'

const node = (id: number, functionName: string, url: string, children: number[] = []): Profiler.ProfileNode => ({
  id,
  callFrame: { functionName, url, lineNumber: 6, columnNumber: 0, scriptId: '0' },
  children,
})

test('topSelfTimes attributes time to the function that spent it, and to the file that called it', () => {
  const profile: Profiler.Profile = {
    startTime: 0,
    endTime: 10_000,
    nodes: [
      node(1, '(root)', '', [2, 3, 5]),
      node(2, '(idle)', ''),
      node(3, 'admit', 'file:///home/me/gateway/services/gateway/src/admission/admit-call.ts', [4]),
      node(4, 'parse', 'file:///home/me/gateway/node_modules/.pnpm/zod@4/node_modules/zod/v4/core/parse.js'),
      node(5, 'write', 'node:net', [6]),
      node(6, 'writev', ''),
    ],
    samples: [2, 3, 4, 6],
    timeDeltas: [6_000, 1_000, 2_000, 1_000],
  }
  const text = topSelfTimes(profile)
  expect(text).toContain('Busy 40 % of the time.')
  const lines = text.split('\n').map((line) => line.replaceAll(/ +/g, ' '))
  expect(lines).toContain('| parse zod/v4/core/parse.js:7 | 50.0 % | 2 ms |')
  expect(lines).toContain('| writev | 25.0 % | 1 ms |')
  expect(lines).toContain('| services/gateway/src/admission/admit-call.ts | 75.0 % | 3 ms |')
  expect(lines).toContain('| node:net | 25.0 % | 1 ms |')
})
