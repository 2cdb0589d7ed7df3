// `npm test`: every check, then every test, and at the end `N passed, N failed`.
// `npm test -- <filter>`: only the tests whose file matches. `--project unit`, `live` or `scenario`: only those of that kind,
// which is what `npm run test:unit`, `test:live` and `test:scenarios` ask for.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runChecks } from './checks.js'
import { ensureInstalled, environment, projectFolder } from './install.js'

const filter = process.argv.slice(2)
await ensureInstalled()
const failures = filter.length === 0 ? await runChecks() : []
if (filter.length > 0)
  process.stdout.write(`  Only tests that match ${filter.join(' ')}; npm run check runs the checks.\n`)
const tests = await runTests()

for (const failure of failures) process.stdout.write(`\n  FAILED: ${failure}`)
process.stdout.write(`\n${tests.passed} passed, ${tests.failed + failures.length} failed\n`)
process.exitCode = tests.failed + failures.length > 0 ? 1 : 0

async function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tests-'))
  const report = join(folder, 'report.json')
  const startedAt = performance.now()
  process.stdout.write('  tests\n')
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...filter]
  const code = await stream(join(projectFolder, 'node_modules', '.bin', 'vitest'), args)
  process.stdout.write(`  ${'tests'.padEnd(28)}${code === 0 ? 'ok' : 'FAILED'}  ${since(startedAt)}\n`)
  const counts = readCounts(report)
  rmSync(folder, { recursive: true, force: true })
  // For example an error outside of any test, or no test at all.
  if (code !== 0 && counts.failed === 0) failures.push('the test run itself')
  return counts
}

function stream(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: projectFolder, env: environment(), stdio: 'inherit' })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
    child.on('error', () => resolve(1))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

/** A file that could not even be loaded counts as one failure. */
function readCounts(report) {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(report, 'utf8'))
    const notLoaded = testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
    return { passed: numPassedTests, failed: numFailedTests + notLoaded.length }
  } catch {
    return { passed: 0, failed: 0 }
  }
}

function since(startedAt) {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
}
