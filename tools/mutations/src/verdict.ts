import path from 'node:path'

// The result of a mutation, and how it is printed.

export type Verdict =
  /** A test fails that passes without the mutation. */
  | { kind: 'killed'; by: string }
  /** The tests did not end in time. */
  | { kind: 'hangs'; limitMs: number }
  | { kind: 'survived' }
  /** The same test fails without the mutation, or no test ran at all. */
  | { kind: 'unsure'; why: string }
  /** The rule does not exist in this tree. */
  | { kind: 'not-applicable'; why: string }

export interface Tried {
  id: string
  rule: string
  verdict: Verdict
  ms: number
}

/** One line for each mutation. */
export function verdictLine({ id, verdict, ms }: Tried, idWidth: number): string {
  const { word, more } = wordsOf(verdict)
  const seconds = `${(ms / 1_000).toFixed(0)} s`.padStart(5)
  return `${id.padEnd(idWidth)}  ${word.padEnd(14)}  ${seconds}  ${more}`.trimEnd()
}

/** The rules that no test detected, and the count at the end. */
export function summary(tried: readonly Tried[]): string {
  const applicable = tried.filter(({ verdict }) => verdict.kind !== 'not-applicable')
  const killed = applicable.filter(({ verdict }) => isKilled(verdict))
  const left = applicable.filter(({ verdict }) => !isKilled(verdict))
  const others = tried.length - applicable.length
  return [
    ...left.map(({ id, rule, verdict }) => `${verdict.kind}: ${id}. ${rule}`),
    ...(others > 0 ? [`not applicable: ${others}`] : []),
    `killed ${killed.length} of ${applicable.length}`,
  ].join('\n')
}

export function isKilled({ kind }: Verdict): boolean {
  return kind === 'killed' || kind === 'hangs'
}

function wordsOf(verdict: Verdict): { word: string; more: string } {
  switch (verdict.kind) {
    case 'killed':
      return { word: 'killed', more: verdict.by }
    case 'hangs':
      return { word: 'killed', more: `the tests hang: not over after ${verdict.limitMs / 1_000} s` }
    case 'survived':
      return { word: 'survived', more: '' }
    case 'unsure':
      return { word: 'unsure', more: verdict.why }
    case 'not-applicable':
      return { word: 'not applicable', more: verdict.why }
  }
}

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
