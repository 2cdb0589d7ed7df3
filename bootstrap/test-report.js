// What the tests took: a reporter of vitest that writes it down, and the tables printed of it.
import { readFileSync, writeFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'

/**
 * Writes counts and times of each file as JSON to TEST_REPORT. `seconds` is a file's tests, hooks and imports. The files of a
 * layer run alongside each other, so their sum is more than the time that passed.
 */
export default class TimesReporter {
  onTestRunEnd(modules) {
    const files = modules.map((module) => {
      const { duration, collectDuration, environmentSetupDuration, prepareDuration, setupDuration } =
        module.diagnostic()
      const tests = [...module.children.allTests()]
      const states = tests.map((test) => test.result().state)
      const count = (state) => states.filter((one) => one === state).length
      const broken = tests.filter((test) => test.result().state === 'failed')
      const failures = broken.map((test) => `${test.fullName}: ${messageOf(test.result().errors)}`)
      if (module.state() === 'failed' && failures.length === 0) failures.push(messageOf(module.errors()))
      return {
        file: module.relativeModuleId,
        layer: module.project.name,
        passed: count('passed'),
        failed: failures.length,
        skipped: count('skipped'),
        failures,
        skipNotes: tests.map((test) => test.result().note).filter(Boolean),
        seconds: (duration + collectDuration + environmentSetupDuration + prepareDuration + setupDuration) / 1000,
      }
    })
    writeFileSync(process.env.TEST_REPORT, JSON.stringify(files))
  }
}

/**
 * The files that were tested, with the service processes that each started. A file that could not be loaded counts as one failure.
 * @param startsFile lines of JSON, one a process: `{ file, ms }` (tools/testbed/src/test-program.ts)
 */
export function readReport(reportFile, startsFile) {
  const starts = linesOf(startsFile).map((line) => JSON.parse(line))
  return JSON.parse(readOr(reportFile, '[]')).map((row) => {
    const own = starts.filter(({ file }) => file.endsWith(row.file))
    return { ...row, processes: own.length, startSeconds: own.reduce((sum, { ms }) => sum + ms / 1000, 0) }
  })
}

/** One line a layer, or one a file, the slowest first. */
export function timesTable(rows, by) {
  const groups = new Map()
  for (const row of rows) groups.set(row[by], [...(groups.get(row[by]) ?? []), row])
  const sum = (some, name) => some.reduce((total, row) => total + row[name], 0)
  const lines = [...groups].map(([name, some]) => ({
    name,
    files: some.length,
    tests: sum(some, 'passed') + sum(some, 'failed') + sum(some, 'skipped'),
    seconds: sum(some, 'seconds'),
    processes: sum(some, 'processes'),
    startSeconds: sum(some, 'startSeconds'),
  }))
  if (by === 'file') lines.sort((one, other) => other.seconds - one.seconds)
  const width = Math.max(...lines.map(({ name }) => name.length), 10)
  const head = `  ${by.padEnd(width)}  files  tests  seconds  processes  starting them\n`
  return head.concat(
    ...lines.map(
      ({ name, files, tests, seconds, processes, startSeconds }) =>
        `  ${name.padEnd(width)}  ${String(files).padStart(5)}  ${String(tests).padStart(5)}  ${seconds.toFixed(1).padStart(7)}  ${String(processes).padStart(9)}  ${startSeconds.toFixed(1).padStart(11)} s\n`,
    ),
  )
}

/** One line for each reason that a test gave for its skip: what this machine did not try. */
export function skippedLines(rows) {
  const counts = new Map()
  for (const { file, skipNotes } of rows)
    for (const note of skipNotes) {
      const key = `${file}: ${note}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  return [...counts].map(([key, count]) => `  SKIPPED: ${count} ${count === 1 ? 'test' : 'tests'} of ${key}\n`)
}

/** One line for each failure, with its message in one line: the end of a long run says what to look at. */
export function failedLines(rows) {
  return rows.flatMap(({ file, failures }) => failures.map((failure) => `  FAILED: ${file} > ${failure}\n`))
}

/** Message of the first error in one line, cut to a length that a terminal shows. */
function messageOf(errors) {
  const lines = stripVTControlCharacters(String(errors?.[0]?.message ?? 'no message')).split('\n')
  return lines
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' | ')
    .slice(0, 600)
}

const linesOf = (file) => readOr(file, '').split('\n').filter(Boolean)

function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}
