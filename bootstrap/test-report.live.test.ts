import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'

// A module without types.
const reportModule = new URL('test-report.js', import.meta.url)
const { failedLines, readReport, skippedLines } = (await import(reportModule.href)) as {
  failedLines: (rows: unknown[]) => string[]
  readReport: (reportFile: string, startsFile: string) => { failed: number; passed: number }[]
  skippedLines: (rows: unknown[]) => string[]
}

test('the report names what failed, in tests and outside of them, and why others were skipped', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'report-'))
  const modules = path.join(import.meta.dirname, '..', 'node_modules')
  symlinkSync(modules, path.join(folder, 'node_modules'))
  writeFileSync(
    path.join(folder, 'a.test.js'),
    `import { describe, expect, test } from 'vitest'
     describe('sums', () => test('of two', () => expect(1 + 1, 'a first line\\nand a second').toBe(3)))
     test('of three', () => {})
     test('skipped', ({ skip }) => skip('no Docker engine responds'))
     test('skipped, too', ({ skip }) => skip('no Docker engine responds'))
     test('no tool', ({ skip }) => skip('no openssl'))`,
  )
  writeFileSync(path.join(folder, 'b.test.js'), `throw new Error('not loaded')`)
  const report = path.join(folder, 'report.json')
  const run = spawn(
    path.join(modules, '.bin', 'vitest'),
    ['run', '--root', folder, `--reporter=${reportModule.pathname}`],
    {
      env: { ...process.env, TEST_REPORT: report },
      stdio: 'ignore',
    },
  )
  expect(await once(run, 'close')).toEqual([1, null])
  const rows = readReport(report, path.join(folder, 'no starts'))
  rmSync(folder, { recursive: true })

  expect(failedLines(rows).toSorted()).toEqual([
    '  FAILED: a.test.js > sums > of two: a first line | and a second: expected 2 to be 3 // Object.is equality\n',
    '  FAILED: b.test.js > not loaded\n',
  ])
  expect(skippedLines(rows)).toEqual([
    '  SKIPPED: 2 tests of a.test.js: no Docker engine responds\n',
    '  SKIPPED: 1 test of a.test.js: no openssl\n',
  ])
  expect(rows.map(({ passed, failed }) => passed + failed).toSorted((a, b) => a - b)).toEqual([1, 2])
})
