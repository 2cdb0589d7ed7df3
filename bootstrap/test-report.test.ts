import { expect, test } from 'vitest'

// A module without types.
const { skippedLines } = (await import(new URL('test-report.js', import.meta.url).href)) as {
  skippedLines: (rows: { file: string; skipNotes: string[] }[]) => string[]
}

test('prints one line for each file and reason of skipped tests', () => {
  const rows = [
    { file: 'a.live.test.ts', skipNotes: ['no Docker engine responds', 'no Docker engine responds'] },
    { file: 'b.live.test.ts', skipNotes: ['no openssl'] },
    { file: 'c.live.test.ts', skipNotes: [] },
  ]
  expect(skippedLines(rows)).toEqual([
    '  SKIPPED: 2 tests of a.live.test.ts: no Docker engine responds\n',
    '  SKIPPED: 1 test of b.live.test.ts: no openssl\n',
  ])
  expect(skippedLines([])).toEqual([])
})
