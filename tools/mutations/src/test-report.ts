import path from 'node:path'

/** What the JSON reporter of vitest says, as far as it is read here. */
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
  /** `file` from the project's folder; null: an error outside of any file. */
  | { kind: 'failed'; file: string | null; test: string }
  | { kind: 'none'; why: string }

/** How the tests went, from the report and the exit code. `text` null: vitest wrote none. */
export function readTestReport(text: string | null, code: number, folder: string): TestsOutcome {
  if (text === null) return { kind: 'none', why: 'vitest ended before any test' }
  const { testResults } = JSON.parse(text) as VitestReport
  const fileOf = ({ name }: { name: string }) => path.relative(folder, name)
  for (const result of testResults) {
    const failed = result.assertionResults.find(({ status }) => status === 'failed')
    if (failed) return { kind: 'failed', file: fileOf(result), test: failed.fullName.trim() }
  }
  // A file that was left out after the first failure has failed as well by the report, and says nothing.
  const broken = testResults.find(({ status, message }) => status === 'failed' && message)
  if (broken) return { kind: 'failed', file: fileOf(broken), test: firstLine(broken.message!) }
  if (testResults.length === 0) return { kind: 'none', why: 'no test was executed' }
  return code === 0 ? { kind: 'passed' } : { kind: 'failed', file: null, test: 'an error outside of any test' }
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]!.slice(0, 200)
}
