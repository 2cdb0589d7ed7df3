import { appendFileSync } from 'node:fs'

/**
 * Records that a test file has started service processes, for the tables that `npm test` prints
 * (bootstrap/test-report.js).
 */
export async function noteStart(ms: number, processes = 1): Promise<void> {
  const { TEST_STARTS } = process.env
  if (TEST_STARTS === undefined) return
  const { expect } = await import('vitest') // only tests set the variable; benches start the same services
  const line = `${JSON.stringify({ file: expect.getState().testPath ?? '', ms: ms / processes })}\n`
  appendFileSync(TEST_STARTS, line.repeat(processes))
}
