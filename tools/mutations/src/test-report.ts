import path from 'node:path'

/** The part of vitest's JSON report that is read here. */
interface VitestReport {
  testResults: {
    name: string
    status: string
    message?: string
    assertionResults: { fullName: string; status: string }[]
  }[]
}

export type TestsOutcome =
  | { kind: 'passed' }
  /** `file` relative to the project folder; null for an error outside any file. */
  | { kind: 'failed'; file: string | null; test: string }
  | { kind: 'none'; why: string }

/** Returns the outcome of the tests, from the report and the exit code. `text` is null if vitest wrote no report. */
export function readTestReport(text: string | null, code: number, folder: string): TestsOutcome {
  if (text === null) return { kind: 'none', why: 'vitest ended before any test' }
  const { testResults } = JSON.parse(text) as VitestReport
  const fileOf = ({ name }: { name: string }) => path.relative(folder, name)
  for (const result of testResults) {
    const failed = result.assertionResults.find(({ status }) => status === 'failed')
    if (failed) return { kind: 'failed', file: fileOf(result), test: failed.fullName.trim() }
  }
  // The report also lists files skipped after the first failure as failed, without a message.
  const broken = testResults.find(({ status, message }) => status === 'failed' && message)
  if (broken) return { kind: 'failed', file: fileOf(broken), test: firstLine(broken.message!) }
  if (testResults.length === 0) return { kind: 'none', why: 'no test was executed' }
  return code === 0 ? { kind: 'passed' } : { kind: 'failed', file: null, test: 'an error outside of any test' }
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]!.slice(0, 200)
}
